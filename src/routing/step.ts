import { refuse } from '../errors/refusal.js';
import { elementTexts, isUnstorable, memberTexts } from '../kernel/json/scan.js';
import type { MeshAddress } from '../kernel/mesh-address.js';
import { isTaskKey, isUuid, TASK_KEY } from '../kernel/names.js';
import { isObject } from '../kernel/json/is-object.js';

/** Steps of one acceptance: all or none (chapter 5). */
const STEPS_MAX = 64;
/** An input's bound, on its UTF-8 JSON as it was sent. */
export const INPUT_LIMIT_BYTES = 256 * 1024;
/** The largest deadline a step may author, in milliseconds. */
const TIMEOUT_MAX_MS = 3_600_000;
const TOOL_CALL_ID_MAX = 256;

interface AnyStep {
  /** Where it stands in the request, as in `steps[0].call`: every refusal begins with it. */
  readonly path: string;
  readonly name: string;
  readonly key: string | undefined;
  readonly timeoutMs: number | undefined;
  /** The bytes that are stored and passed on. */
  readonly inputText: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A model's call: `name` is a callable of the frozen declaration. */
interface CallStep extends AnyStep {
  readonly kind: 'call';
  readonly toolCallId: string | undefined;
}

/** A member's call by served name. A route without a UUID asks for the default runner. */
interface ToolStep extends AnyStep {
  readonly kind: 'tool';
  readonly route: { readonly runnerId: string | undefined } | undefined;
  /** Who of those that a bare name may go to was addressed; any of them where absent. */
  readonly role?: 'agent_application' | 'tool_provider' | undefined;
  readonly toolCallId?: string | undefined;
}

/** A call by address (chapter 8): `path` is that of the address. It becomes the call of the instance that it names. */
export interface AddressStep extends AnyStep {
  readonly kind: 'address';
  readonly address: MeshAddress;
  readonly toolCallId: string | undefined;
}

/** A step that says by itself whom it asks for. */
export type DirectStep = CallStep | ToolStep;

export type Step = DirectStep | AddressStep;

/**
 * Reads the steps of a request (chapter 5, Steps): `value` parsed, `text` the same as it was sent. Throws the first fault:
 * `parameter_missing`, `validation_failed`, `invalid_timeout_ms`, `invalid_tool_route`, and `key_taken` for a key twice.
 */
export function readSteps(value: unknown, text: string): Step[] {
  if (!Array.isArray(value)) throw refuse('validation_failed', 'steps must be a list of steps');
  if (value.length < 1 || value.length > STEPS_MAX) {
    throw refuse('validation_failed', `steps must hold 1 to ${STEPS_MAX} steps, not ${value.length}`);
  }
  const texts = elementTexts(text);
  const steps = value.map((step: unknown, index) => readStep(step, texts[index] ?? '{}', `steps[${index}]`));
  const keys = new Set<string>();
  for (const { path, key } of steps) {
    if (key === undefined) continue;
    if (keys.has(key)) throw refuse('key_taken', `${path}.key repeats ${key}`);
    keys.add(key);
  }
  return steps;
}

/** Reads one step at `path`. */
export function readStep(value: unknown, text: string, path: string): Step {
  if (!isObject(value)) throw refuse('validation_failed', `${path} must be an object`);
  const { call, tool } = value;
  if (call !== undefined && tool !== undefined) {
    throw refuse('validation_failed', `${path} must carry either call or tool, not both`);
  }
  const kind = call === undefined ? 'tool' : 'call';
  const fields = value[kind];
  if (fields === undefined) throw refuse('parameter_missing', `${path}.call or ${path}.tool is required`);
  const at = `${path}.${kind}`;
  if (!isObject(fields)) throw refuse('validation_failed', `${at} must be an object`);
  const step = readAny(fields, memberTexts(memberTexts(text).get(kind) ?? '{}'), at);
  return kind === 'call'
    ? { ...step, kind, toolCallId: readToolCallId(fields['tool_call_id'], `${at}.tool_call_id`) }
    : { ...step, kind, route: readRoute(fields, step.name, `${at}.route`) };
}

function readAny(fields: Record<string, unknown>, texts: ReadonlyMap<string, string>, path: string): AnyStep {
  const { name, key, input } = fields;
  if (name === undefined) throw refuse('parameter_missing', `${path}.name is required`);
  if (typeof name !== 'string') throw refuse('validation_failed', `${path}.name must be a string`);
  if (key !== undefined && !isTaskKey(key)) {
    throw refuse('validation_failed', `${path}.key must match ${TASK_KEY.source}`);
  }
  if (input === undefined) throw refuse('parameter_missing', `${path}.input is required`);
  if (!isObject(input)) throw refuse('validation_failed', `${path}.input must be an object`);
  const inputText = texts.get('input') ?? '{}';
  const bytes = Buffer.byteLength(inputText);
  if (bytes > INPUT_LIMIT_BYTES) {
    throw refuse(
      'validation_failed',
      `${path}.input is ${bytes} bytes; at most ${INPUT_LIMIT_BYTES} are allowed`,
    );
  }
  return {
    path,
    name,
    key,
    timeoutMs: readTimeout(fields['timeout_ms'], `${path}.timeout_ms`),
    inputText,
    input,
  };
}

/** Reads a deadline, in milliseconds. Throws `invalid_timeout_ms`. */
export function readTimeout(value: unknown, path: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= TIMEOUT_MAX_MS)
    return value;
  throw refuse('invalid_timeout_ms', `${path} must be an integer from 1 to ${TIMEOUT_MAX_MS}`);
}

function readToolCallId(value: unknown, path: string): string | undefined {
  if (value === undefined) return undefined;
  const isText = typeof value === 'string' && value.length >= 1 && value.length <= TOOL_CALL_ID_MAX;
  if (isText && !isUnstorable(JSON.stringify(value))) return value;
  throw refuse('validation_failed', `${path} must be a string of 1 to ${TOOL_CALL_ID_MAX} characters`);
}

/** `{kind: "runner", runner_executor_public_id?, tool_name?}`; an explicit null anywhere is `invalid_tool_route`. */
function readRoute(
  fields: Record<string, unknown>,
  name: string,
  path: string,
): { readonly runnerId: string | undefined } | undefined {
  if (!Object.hasOwn(fields, 'route')) return undefined;
  const { route } = fields;
  if (!isObject(route)) throw refuse('invalid_tool_route', `${path} must be an object`);
  if (route['kind'] !== 'runner') throw refuse('invalid_tool_route', `${path}.kind must be runner`);
  const { runner_executor_public_id: runnerId, tool_name: toolName } = route;
  if (runnerId !== undefined && !isUuid(runnerId)) {
    throw refuse('invalid_tool_route', `${path}.runner_executor_public_id must be a UUID`);
  }
  if (toolName !== undefined && toolName !== name) {
    throw refuse('invalid_tool_route', `${path}.tool_name must be the name of the step`);
  }
  return { runnerId };
}
