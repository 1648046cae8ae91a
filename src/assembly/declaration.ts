import { createHash } from 'node:crypto';
import { JsonText } from '../db/json-text.js';
import { refuse } from '../errors/refusal.js';

/** A declaration is at most this large, measured on the UTF-8 JSON of both parts (chapter 4). */
const DECLARATION_LIMIT_BYTES = 1024 * 1024;

/** A whole declaration as it is answered and frozen. */
export interface Assembled {
  readonly toolDefinitions: JsonText;
  readonly environment: JsonText;
  /** SHA-256 of both texts: equal declarations are stored once. */
  readonly digest: Buffer;
}

/** Makes a declaration of its two JSON texts. Throws `content_too_large` above 1 MiB. */
export function freeze(toolDefinitionsText: string, environmentText: string): Assembled {
  const bytes = Buffer.byteLength(toolDefinitionsText) + Buffer.byteLength(environmentText);
  if (bytes > DECLARATION_LIMIT_BYTES) {
    throw refuse(
      'content_too_large',
      `tool_definitions and environment are ${bytes} bytes; at most ${DECLARATION_LIMIT_BYTES} are allowed`,
    );
  }
  return {
    toolDefinitions: new JsonText(toolDefinitionsText),
    environment: new JsonText(environmentText),
    // a newline never stands between two values of JSON texts as they are written here
    digest: createHash('sha256').update(toolDefinitionsText).update('\n').update(environmentText).digest(),
  };
}
