import { nestingExceeds } from '../kernel/json/scan.js';
import { refuse } from '../errors/refusal.js';

/** Bodies are at most 1 MiB on both doors (chapter 9). */
export const BODY_LIMIT_BYTES = 1024 * 1024;

/** JSON nests at most 64 deep (chapters 2, 9). */
const NESTING_LIMIT = 64;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** A request's body: the text as it came, for verbatim storage, and its value. */
export class JsonBody {
  private constructor(
    readonly text: string,
    readonly value: unknown,
  ) {}

  /** No body: reads as an empty object. */
  static readonly empty = new JsonBody('{}', {});

  /** Reads bytes from either door. Throws `content_too_large` or `invalid_json`; empty bytes are `{}`. */
  static read(bytes: Uint8Array): JsonBody {
    if (bytes.byteLength === 0) return JsonBody.empty;
    if (bytes.byteLength > BODY_LIMIT_BYTES) throw refuse('content_too_large');
    try {
      const text = utf8.decode(bytes);
      if (nestingExceeds(text, NESTING_LIMIT))
        throw refuse('invalid_json', `the body nests deeper than ${NESTING_LIMIT}`);
      return new JsonBody(text, JSON.parse(text) as unknown);
    } catch (fault) {
      if ((fault as Error).name === 'SyntaxError') throw refuse('invalid_json', 'the body is not JSON');
      if ((fault as { code?: string }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
        throw refuse('invalid_json', 'the body is not UTF-8');
      throw fault;
    }
  }

  /** The value as an object. Throws `invalid_json` when it is anything else. */
  get object(): Record<string, unknown> {
    const { value } = this;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw refuse('invalid_json', 'the body must be a JSON object');
    }
    return value as Record<string, unknown>;
  }
}
