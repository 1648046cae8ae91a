import { isObject } from '../../kernel/json/is-object.js';
import { memberTexts, nestingExceeds } from '../../kernel/json/scan.js';

/** A commit's body as `readCommit` takes it: what it says, and the text that its parts are stored from. */
export interface ResultBody {
  readonly object: Record<string, unknown>;
  readonly text: string;
}

/** What an executor answered to a delivered call. */
export interface Reply {
  readonly data: Uint8Array;
  /** A header's value; empty where there is none. */
  readonly header: (name: string) => string;
}

/** The members of a commit (chapter 6) that make a result of a JSON object. */
const MEMBERS: ReadonlySet<string> = new Set([
  'content',
  'structured_content',
  'is_error',
  'outcome',
  'title',
  'metadata',
]);

const utf8 = new TextDecoder();

/**
 * The result that a reply is (chapter 8, Delivery): a JSON object with `content` or `structured_content`, or with nothing but
 * members of a commit, is one as it stands. Any other payload is text content, and an empty one no content. The headers of
 * a service's error make it an error; their words are the content, and what else is said follows.
 */
export function resultOfReply(reply: Reply): ResultBody {
  const text = utf8.decode(reply.data);
  const result = asResult(text);
  const error = errorOf(reply);
  if (error === undefined) return result ?? (text === '' ? written({}) : written({ content: text }));
  if (!result) return written({ content: text === '' ? error : `${error}\n${text}`, is_error: true });
  const { object } = result;
  if (object['content'] !== undefined) return { text, object: { ...object, is_error: true } };
  const members = new Map(memberTexts(text)).set('content', JSON.stringify(error));
  return { text: joined(members), object: { ...object, content: error, is_error: true } };
}

/** What is kept of a reply that a commit would be refused for: nobody is there to mend it, and the tool did run. */
export const refusedReply = (why: string): ResultBody =>
  written({ content: `The tool ran, but its result could not be taken: ${why}`, is_error: true });

function asResult(text: string): ResultBody | undefined {
  if (!/^\s*\{/.test(text) || nestingExceeds(text)) return undefined;
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(object)) return undefined;
  const isResult =
    Object.hasOwn(object, 'content') ||
    Object.hasOwn(object, 'structured_content') ||
    Object.keys(object).every((key) => MEMBERS.has(key));
  return isResult ? { object, text } : undefined;
}

function errorOf({ header }: Reply): string | undefined {
  const [error, code] = [header('Nats-Service-Error'), header('Nats-Service-Error-Code')];
  if (error !== '') return error;
  return code === '' ? undefined : `error ${code}`;
}

const written = (object: Record<string, unknown>): ResultBody => ({ object, text: JSON.stringify(object) });

const joined = (members: ReadonlyMap<string, string>): string =>
  `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
