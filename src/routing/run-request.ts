import { APPROVAL_MODES, type ApprovalMode } from '../assembly/approval-mode.js';
import { readConfigurationField } from '../assembly/assembly-request.js';
import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { approvalRuleFaults } from '../kernel/approval-rules.js';
import { isUnstorable, memberTexts } from '../kernel/json/scan.js';
import { isUuid } from '../kernel/names.js';
import { readSteps, type Step } from './step.js';

/** What a new run is asked to be (chapter 5, Hosts). */
export interface RunRequest {
  readonly conversationId?: string | undefined;
  readonly parentId?: string | undefined;
  /** Null is none; undefined leaves it to the conversation. */
  readonly defaultRunnerId?: string | null | undefined;
  /** The JSON text of an object that replaces the profile. */
  readonly configuration?: { readonly text: string } | undefined;
  readonly approvalMode?: ApprovalMode | undefined;
  /** JSON text, as it was sent. */
  readonly approvalRulesText?: string | undefined;
  /** What a continuation keeps of its parent's callables. */
  readonly toolNames?: readonly string[] | undefined;
  readonly steps: readonly Step[];
}

/** Faults that `error.details` names at most, as for an announcement (chapter 2). */
const DETAILS_MAX = 20;

/** Reads the body of `POST …/runs`. Throws `parameter_missing`, `validation_failed` and the refusals of steps. */
export function readRunRequest(input: VerbInput): RunRequest {
  const fields = input.body.object;
  const texts = memberTexts(input.body.text);
  return {
    conversationId: readId(fields, 'conversation_public_id') ?? undefined,
    parentId: readId(fields, 'parent_run_public_id') ?? undefined,
    defaultRunnerId: readId(fields, 'default_runner_executor_public_id'),
    configuration: readConfigurationField(input),
    approvalMode: readMode(fields['approval_mode']),
    approvalRulesText: readRules(fields['approval_rules'], texts.get('approval_rules')),
    toolNames: readToolNames(fields['tool_names']),
    steps: readOptionalSteps(fields['steps'], texts.get('steps')),
  };
}

/** A field that names something by its id: undefined where absent. Throws `validation_failed` for anything else. */
export function readId(fields: Record<string, unknown>, name: string): string | null | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (value === undefined || value === null || isUuid(value)) return value;
  throw refuse('validation_failed', `${name} must be a UUID or null`);
}

function readMode(value: unknown): ApprovalMode | undefined {
  if (value === undefined || APPROVAL_MODES.includes(value as ApprovalMode))
    return value as ApprovalMode | undefined;
  throw refuse('validation_failed', `approval_mode must be one of ${APPROVAL_MODES.join(', ')}`);
}

function readRules(value: unknown, text: string | undefined): string | undefined {
  if (value === undefined || text === undefined) return undefined;
  const faults = approvalRuleFaults(value, 'approval_rules');
  const [first] = faults;
  if (first) throw refuse('validation_failed', first.message, faults.slice(0, DETAILS_MAX));
  if (isUnstorable(text)) throw refuse('validation_failed', 'approval_rules hold a NUL or a lone surrogate');
  return text;
}

function readToolNames(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value;
  throw refuse('validation_failed', 'tool_names must be a list of names');
}

/** A run may be made without steps, also with an empty list of them. */
function readOptionalSteps(value: unknown, text: string | undefined): Step[] {
  if (value === undefined || text === undefined || (Array.isArray(value) && value.length === 0)) return [];
  return readSteps(value, text);
}
