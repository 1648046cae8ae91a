import { refuse } from '../errors/refusal.js';

const KIB = 1024;
/** All of a result together, in bytes of JSON (chapter 6, Commit). */
const RESULT_BYTES_MAX = 768 * KIB;
const METADATA_BYTES_MAX = 64 * KIB;
const BLOCKS_MAX = 64;
const TITLE_MAX = 256;

/** The strings that a block of each kind must carry, after the Model Context Protocol. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
  resource: [],
};

/**
 * Checks a commit's result: grammar, then bounds. `raw` holds the members of the body as they were written. Throws
 * `validation_failed`, `invalid_content`, `unsupported_content_kind`, `too_many_content_blocks`, `invalid_title`,
 * `metadata_too_large` or `result_too_large`; each leaves the park standing.
 */
export function checkResult(body: Readonly<Record<string, unknown>>, raw: ReadonlyMap<string, string>): void {
  const { outcome, is_error: isError, title, metadata } = body;
  if (outcome !== undefined && outcome !== 'completed' && outcome !== 'failed') {
    throw refuse('validation_failed', 'outcome must be one of completed, failed');
  }
  if (isError !== undefined && typeof isError !== 'boolean')
    throw refuse('validation_failed', 'is_error must be a boolean');
  if (title !== undefined && (typeof title !== 'string' || title.length > TITLE_MAX)) {
    throw refuse('invalid_title', `title must be a string of at most ${TITLE_MAX} characters`);
  }
  if (body['content'] !== undefined) checkContent(body['content']);
  if (metadata !== undefined && !isObject(metadata))
    throw refuse('metadata_too_large', 'metadata must be an object');
  if (bytesOf(raw, 'metadata') > METADATA_BYTES_MAX) throw refuse('metadata_too_large');
  if (bytesOf(raw, 'content') + bytesOf(raw, 'structured_content') > RESULT_BYTES_MAX)
    throw refuse('result_too_large');
}

function checkContent(content: unknown): void {
  if (typeof content === 'string') return;
  if (!Array.isArray(content))
    throw refuse('invalid_content', 'content must be a string or a list of content blocks');
  if (content.length > BLOCKS_MAX) throw refuse('too_many_content_blocks');
  for (const [index, block] of content.entries()) checkBlock(block, `content[${index}]`);
}

function checkBlock(block: unknown, path: string): void {
  if (!isObject(block)) throw refuse('invalid_content', `${path} must be an object`);
  const { type } = block;
  if (typeof type !== 'string') throw refuse('invalid_content', `${path}.type must be a string`);
  const required = Object.hasOwn(BLOCKS, type) ? BLOCKS[type] : undefined;
  if (!required) {
    throw refuse('unsupported_content_kind', `${path}.type must be one of ${Object.keys(BLOCKS).join(', ')}`);
  }
  for (const key of required) {
    if (typeof block[key] !== 'string') throw refuse('invalid_content', `${path}.${key} must be a string`);
  }
  if (type === 'resource') checkResource(block['resource'], `${path}.resource`);
}

function checkResource(resource: unknown, path: string): void {
  if (!isObject(resource) || typeof resource['uri'] !== 'string') {
    throw refuse('invalid_content', `${path}.uri must be a string`);
  }
  if (typeof resource['text'] !== 'string' && typeof resource['blob'] !== 'string') {
    throw refuse('invalid_content', `${path} must carry text or blob`);
  }
}

function bytesOf(raw: ReadonlyMap<string, string>, key: string): number {
  const text = raw.get(key);
  return text === undefined ? 0 : Buffer.byteLength(text);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
