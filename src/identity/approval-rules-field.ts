import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { approvalRuleFaults } from '../kernel/approval-rules.js';
import { memberTexts, unstorablePath } from '../kernel/json/scan.js';

const FIELD = 'approval_rules';
const DETAILS_MAX = 20;

/**
 * The text of the body's `approval_rules`, to be stored as it was sent; null when there are none. Throws
 * `validation_failed` with the first fault, all of them in `details` (chapter 6).
 */
export function approvalRulesOf(input: VerbInput): string | null {
  const rules = input.body.object[FIELD];
  if (rules === undefined) return null;
  const faults = approvalRuleFaults(rules, FIELD);
  const unstorable = unstorablePath(rules, FIELD);
  if (unstorable !== undefined) {
    faults.push({ path: unstorable, message: `${unstorable} holds a NUL or a lone surrogate` });
  }
  if (faults[0]) throw refuse('validation_failed', faults[0].message, faults.slice(0, DETAILS_MAX));
  return memberTexts(input.body.text).get(FIELD) ?? null;
}
