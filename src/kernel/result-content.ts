import type { ErrorCode } from '../errors/error-table.js';
import { refuse } from '../errors/refusal.js';
import { isUnstorable } from './json/scan.js';
import { isObject } from './json/is-object.js';

/** Bytes of `content` and `structured_content` together, as JSON (chapter 6, Commit). */
const RESULT_LIMIT_BYTES = 768 * 1024;
const METADATA_LIMIT_BYTES = 64 * 1024;
const BLOCKS_LIMIT = 64;
/** Characters, not UTF-16 units. */
const TITLE_LIMIT = 256;
const OUTCOMES: readonly unknown[] = ['completed', 'failed'];

type JsonObject = Readonly<Record<string, unknown>>;

/** Why a result is refused. */
export interface ResultFault {
  readonly code: Extract<
    ErrorCode,
    | 'invalid_content'
    | 'invalid_title'
    | 'metadata_too_large'
    | 'result_too_large'
    | 'result_unstorable'
    | 'too_many_content_blocks'
    | 'unsupported_content_kind'
    | 'validation_failed'
  >;
  readonly message: string;
}

/**
 * The first fault of a commit's result (chapter 6), undefined for one that can be stored. `body` is the parsed body, `raw`
 * its `memberTexts`: sizes are those of the JSON as it was sent. A fault leaves the park standing, except
 * `result_unstorable`, which is looked for last: it closes the task.
 */
export function resultFault(body: JsonObject, raw: ReadonlyMap<string, string>): ResultFault | undefined {
  return (
    outcomeFault(body) ??
    contentFault(body['content']) ??
    sizeFault(raw) ??
    titleFault(body['title']) ??
    metadataFault(body['metadata'], raw) ??
    unstorableFault(raw)
  );
}

/** Throws the refusal for the first fault of a commit's result; see `resultFault`. */
export function checkResult(body: JsonObject, raw: ReadonlyMap<string, string>): void {
  const fault = resultFault(body, raw);
  if (fault) throw refuse(fault.code, fault.message);
}

function outcomeFault({ outcome, is_error }: JsonObject): ResultFault | undefined {
  if (outcome !== undefined && !OUTCOMES.includes(outcome)) {
    return { code: 'validation_failed', message: `outcome must be one of ${OUTCOMES.join(', ')}` };
  }
  if (is_error !== undefined && typeof is_error !== 'boolean') {
    return { code: 'validation_failed', message: 'is_error must be a boolean' };
  }
  return undefined;
}

function contentFault(content: unknown): ResultFault | undefined {
  if (content === undefined || typeof content === 'string') return undefined;
  if (!Array.isArray(content)) return invalid('content must be a string or a list of content blocks');
  if (content.length > BLOCKS_LIMIT) {
    const message = `content has ${content.length} blocks; at most ${BLOCKS_LIMIT} are admitted`;
    return { code: 'too_many_content_blocks', message };
  }
  for (const [index, block] of content.entries()) {
    const fault = blockFault(block, `content[${index}]`);
    if (fault) return fault;
  }
  return undefined;
}

/** What each kind of block must carry, beside anything else it does: the content blocks of MCP. */
const BLOCK_FAULTS: ReadonlyMap<string, (block: JsonObject, path: string) => ResultFault | undefined> =
  new Map([
    ['text', (block, path) => stringsFault(block, ['text'], path)],
    ['resource_link', (block, path) => stringsFault(block, ['uri', 'name'], path)],
    ['image', (block, path) => stringsFault(block, ['data', 'mimeType'], path)],
    ['audio', (block, path) => stringsFault(block, ['data', 'mimeType'], path)],
    ['resource', resourceFault],
  ]);

function blockFault(block: unknown, path: string): ResultFault | undefined {
  if (!isObject(block)) return invalid(`${path} must be an object`);
  const { type } = block;
  if (typeof type !== 'string') return invalid(`${path}.type must be a string`);
  const faultOf = BLOCK_FAULTS.get(type);
  if (faultOf) return faultOf(block, path);
  const message = `${path}.type must be one of ${[...BLOCK_FAULTS.keys()].join(', ')}`;
  return { code: 'unsupported_content_kind', message };
}

/** An embedded resource: a `uri`, and its body as `text` or `blob`. */
function resourceFault({ resource }: JsonObject, path: string): ResultFault | undefined {
  if (!isObject(resource)) return invalid(`${path}.resource must be an object`);
  const body = Object.hasOwn(resource, 'text') ? 'text' : 'blob';
  return stringsFault(resource, ['uri', body], `${path}.resource`);
}

function stringsFault(object: JsonObject, keys: readonly string[], path: string): ResultFault | undefined {
  const wrong = keys.find((key) => !Object.hasOwn(object, key) || typeof object[key] !== 'string');
  return wrong === undefined ? undefined : invalid(`${path}.${wrong} must be a string`);
}

function sizeFault(raw: ReadonlyMap<string, string>): ResultFault | undefined {
  const bytes = bytesOf(raw, 'content') + bytesOf(raw, 'structured_content');
  if (bytes <= RESULT_LIMIT_BYTES) return undefined;
  const message = `content and structured_content have ${bytes} bytes as JSON; their bound is ${RESULT_LIMIT_BYTES}`;
  return { code: 'result_too_large', message };
}

function titleFault(title: unknown): ResultFault | undefined {
  if (title === undefined || (typeof title === 'string' && isTitle(title))) return undefined;
  return { code: 'invalid_title', message: `title must be a string of at most ${TITLE_LIMIT} characters` };
}

/** A character has at most two units, so a long string is not taken apart. */
const isTitle = (title: string): boolean =>
  title.length <= TITLE_LIMIT || (title.length <= 2 * TITLE_LIMIT && [...title].length <= TITLE_LIMIT);

function metadataFault(metadata: unknown, raw: ReadonlyMap<string, string>): ResultFault | undefined {
  if (metadata === undefined) return undefined;
  if (!isObject(metadata)) return { code: 'validation_failed', message: 'metadata must be an object' };
  const bytes = bytesOf(raw, 'metadata');
  if (bytes <= METADATA_LIMIT_BYTES) return undefined;
  const message = `metadata has ${bytes} bytes as JSON; its bound is ${METADATA_LIMIT_BYTES}`;
  return { code: 'metadata_too_large', message };
}

/** The members of a body that are stored. */
const STORED = ['content', 'structured_content', 'title', 'metadata'] as const;

function unstorableFault(raw: ReadonlyMap<string, string>): ResultFault | undefined {
  const found = STORED.find((key) => isUnstorable(raw.get(key) ?? ''));
  if (found === undefined) return undefined;
  return { code: 'result_unstorable', message: `${found} holds a NUL or a lone surrogate` };
}

function bytesOf(raw: ReadonlyMap<string, string>, key: string): number {
  const text = raw.get(key);
  return text === undefined ? 0 : Buffer.byteLength(text);
}

const invalid = (message: string): ResultFault => ({ code: 'invalid_content', message });
