/**
 * The session: one platform credential in the memory of this module, and nowhere else. It ends by signing out, by the first
 * answer that refuses the credential, and with the page. What it was asking for ends with it.
 */
let secret;
let life = new AbortController();
let tellEnd = () => undefined;

/** How long an answer may take; a stream has none. */
const ANSWER_MS = 30_000;
/** Why Nexus says no to a credential, it never says (chapter 1). */
const UNAUTHORIZED = 401;

/** Nexus answered, and refused. */
export class Refused extends Error {
  constructor(status, error) {
    super(error?.message ?? `The answer was ${status}.`);
    this.status = status;
    this.code = error?.code ?? String(status);
  }
}

/** There was no answer: what was asked for may have been done. */
class Unanswered extends Error {}

/** Builds a path; what is put in is encoded. */
export const path = (texts, ...parts) => String.raw({ raw: texts }, ...parts.map(encodeURIComponent));

/** `then(reason)` is called when the session ends; the reason is empty where the user ended it. */
export function onEnd(then) {
  tellEnd = then;
}

/** Begins a session, once the secret has proven itself. Throws `Refused` or `Unanswered`. */
export async function signIn(text) {
  secret = text;
  life = new AbortController();
  try {
    await get('/platform_api/v1/retention');
  } catch (fault) {
    secret = undefined;
    throw fault;
  }
}

export function signOut(reason = '') {
  if (secret === undefined) return;
  secret = undefined;
  life.abort();
  tellEnd(reason);
}

/** Whether a request was given up by this side. */
export const isAborted = (fault) => fault instanceof DOMException && fault.name === 'AbortError';

/** The value and the text of an answer. */
export async function get(where, signal) {
  return readAnswer(await ask(where, { signal: limited(signal) }));
}

export async function post(where, body) {
  return readAnswer(await ask(where, { method: 'POST', body: JSON.stringify(body), signal: limited() }));
}

/** An answer that goes on, as a stream of bytes. */
export async function stream(where, signal) {
  const answer = await ask(where, { accept: 'text/event-stream', signal });
  return answer.body;
}

async function ask(where, { method = 'GET', body, accept = 'application/json', signal }) {
  const mine = life;
  const headers = { Authorization: `Bearer ${secret}`, Accept: accept };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const options = { method, headers, body, cache: 'no-store', credentials: 'omit', redirect: 'error' };
  const answer = await reached(fetch(where, { ...options, signal: together(mine.signal, signal) }));
  if (answer.ok) return answer;
  const refused = new Refused(answer.status, await answer.json().then(errorOf, () => undefined));
  if (answer.status === UNAUTHORIZED && mine === life) {
    signOut('The credential was refused: it was revoked, has expired, or is no platform credential.');
  }
  throw refused;
}

async function readAnswer(answer) {
  const text = await reached(answer.text());
  return { text, value: JSON.parse(text) };
}

async function reached(asked) {
  try {
    return await asked;
  } catch (fault) {
    if (isAborted(fault)) throw fault;
    throw new Unanswered('Nexus did not answer. The node may be down, or out of reach.');
  }
}

const errorOf = ({ error }) => error;
const limited = (signal) => together(AbortSignal.timeout(ANSWER_MS), signal);
const together = (...signals) => AbortSignal.any(signals.filter((signal) => signal !== undefined));
