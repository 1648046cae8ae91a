import type { ApprovalMode } from '../assembly/approval-mode.js';
import type { ApprovalRule } from '../kernel/approval-rules.js';
import type { EffectProfile } from '../kernel/effect-profile.js';
import { matchesGlob } from './glob.js';

/** What is frozen on a run about approval (chapter 6, Approval policy). */
export interface ApprovalPolicy {
  readonly mode: ApprovalMode;
  /** The run's own rules: they count in mode `rules`. */
  readonly rules: readonly ApprovalRule[];
  /** The steward's rules on the agent: they come first in every mode. */
  readonly stewardRules: readonly ApprovalRule[];
}

/** A call as a policy reads it: by its served name, since an agent chooses its alias. */
export interface PolicyCall {
  readonly toolName: string;
  readonly profile: EffectProfile;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Decision {
  readonly verdict: ApprovalRule['verdict'];
  readonly origin: 'mode' | 'rule';
  /** Why a rule says so. */
  readonly reason?: string;
}

/** Whether a call goes, rests or is denied: the steward's rules, the run's in mode `rules`, then the mode itself. */
export function decide(policy: ApprovalPolicy, call: PolicyCall): Decision {
  const rule = rulesOf(policy).find((candidate) => matchesRule(candidate, call));
  if (rule) {
    const { verdict, reason } = rule;
    return reason === undefined ? { verdict, origin: 'rule' } : { verdict, origin: 'rule', reason };
  }
  const rests = policy.mode !== 'bypass' && call.profile.kind === 'write';
  return { verdict: rests ? 'ask' : 'allow', origin: 'mode' };
}

/** Whether some rule for this tool looks at the input: then it must have one reading only. */
export function readsInput(policy: ApprovalPolicy, toolName: string): boolean {
  return rulesOf(policy).some((rule) => rule.path !== undefined && namesTool(rule, toolName));
}

const rulesOf = ({ mode, rules, stewardRules }: ApprovalPolicy): readonly ApprovalRule[] =>
  mode === 'rules' ? [...stewardRules, ...rules] : stewardRules;

function matchesRule(rule: ApprovalRule, { toolName, profile, input }: PolicyCall): boolean {
  return namesTool(rule, toolName) && matchesEffect(rule, profile) && matchesValue(rule, input);
}

const namesTool = ({ tool }: ApprovalRule, toolName: string): boolean =>
  tool.split('|').some((pattern) => matchesGlob(pattern, toolName));

const matchesEffect = ({ effect = {} }: ApprovalRule, profile: EffectProfile): boolean =>
  Object.entries(effect).every(([key, value]) => profile[key as keyof EffectProfile] === value);

/** A value that is no string is read as its JSON; where there is none, nothing matches. */
function matchesValue({ path, match }: ApprovalRule, input: Readonly<Record<string, unknown>>): boolean {
  if (path === undefined || match === undefined) return true;
  let value: unknown = input;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
    value = (value as Record<string, unknown>)[key];
  }
  return matchesGlob(match, typeof value === 'string' ? value : JSON.stringify(value));
}
