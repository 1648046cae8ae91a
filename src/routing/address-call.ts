import { refuse } from '../errors/refusal.js';
import { isObject } from '../kernel/json/is-object.js';
import { memberTexts } from '../kernel/json/scan.js';
import { ADDRESS_RULE, parseAddress } from '../kernel/mesh-address.js';
import { type AddressStep, INPUT_LIMIT_BYTES, readTimeout } from './step.js';

/** What the call keeps of the request that it came in. */
interface Around {
  /** What stands before the names of its fields: empty, or ending in a dot. */
  readonly path: string;
  readonly key?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly toolCallId?: string | undefined;
}

/**
 * Reads `{address, input, timeout_ms?}` (chapter 8), on any door: `text` is the same as it was sent. Throws
 * `parameter_missing`, `validation_failed` and `invalid_timeout_ms`, naming the field.
 */
export function readAddressCall(
  fields: Readonly<Record<string, unknown>>,
  text: string,
  { path, key, timeoutMs, toolCallId }: Around,
): AddressStep {
  const { address: named, input, timeout_ms } = fields;
  if (named === undefined) throw refuse('parameter_missing', `${path}address is required`);
  const address = parseAddress(named);
  if (!address) throw refuse('validation_failed', `${path}address ${ADDRESS_RULE}`);
  if (input === undefined) throw refuse('parameter_missing', `${path}input is required`);
  if (!isObject(input)) throw refuse('validation_failed', `${path}input must be an object`);
  const inputText = memberTexts(text).get('input') ?? '{}';
  const bytes = Buffer.byteLength(inputText);
  if (bytes > INPUT_LIMIT_BYTES) {
    throw refuse(
      'validation_failed',
      `${path}input is ${bytes} bytes; at most ${INPUT_LIMIT_BYTES} are allowed`,
    );
  }
  return {
    kind: 'address',
    path: `${path}address`,
    name: address.toolName,
    address,
    key,
    timeoutMs: readTimeout(timeout_ms, `${path}timeout_ms`) ?? timeoutMs,
    toolCallId,
    inputText,
    input,
  };
}
