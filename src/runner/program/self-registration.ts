import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { backoffMs } from '../sdk/backoff.js';
import type { Log } from '../sdk/log.js';
import { pause } from '../sdk/pause.js';
import { RefusedError } from '../sdk/refused-error.js';
import { asRegistration, readRegistration, type Registration } from '../sdk/registration.js';
import { saveSecretFile } from './secret-files.js';

export interface SelfRegistration {
  /** Where Nexus answers HTTP, without a path. */
  readonly url: string;
  /** Holds the member secret of the human who will manage the runner. */
  readonly memberSecretFile: string;
  readonly name: string;
  readonly identifier: string;
  /** Where registrations are kept; default `~/.nexus/runners`. */
  readonly folder?: string;
}

/** Tries of one registration before it is given up; each is the same request to Nexus. */
const MOST_TRIES = 5;
const ANSWERS_WITHIN_MS = 15_000;

export const savedRegistrationFile = ({
  identifier,
  folder = join(homedir(), '.nexus', 'runners'),
}: SelfRegistration): string => join(folder, `${encodeURIComponent(identifier).replaceAll('.', '%2E')}.json`);

/**
 * The registration saved by an earlier start. Undefined when there is none. Throws for one of another Nexus: a name may
 * be used once, and its saved secret is not thrown away unasked.
 */
export async function savedRegistration(request: SelfRegistration): Promise<Registration | undefined> {
  const file = savedRegistrationFile(request);
  let saved: Registration & { registered_at?: string };
  try {
    saved = await readRegistration(file);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fault;
  }
  if (saved.registered_at !== undefined && saved.registered_at !== request.url) {
    throw new Error(
      `${file} is of ${saved.registered_at}, not of ${request.url}: give another --identifier, or remove it`,
    );
  }
  return saved;
}

/**
 * Registers a runner of the human's own (chapter 1), `user_private`, and saves the answer. A known identifier is
 * re-paired: its older secret ends at once. Throws `RefusedError`, or the last fault when Nexus cannot be reached.
 */
export async function register(
  request: SelfRegistration,
  log: Log,
  signal: AbortSignal,
): Promise<Registration> {
  const secret = (await readFile(request.memberSecretFile, 'utf8')).trim();
  const body = {
    kind: 'runner',
    display_name: request.name,
    registration_identifier: request.identifier,
    assignment_scope: 'user_private',
  };
  const answer = await insist(
    log,
    signal,
    post(`${request.url}/agent_api/v1/executors/registrations`, secret, body, signal),
  );
  const file = savedRegistrationFile(request);
  const registration = asRegistration(answer, 'the answer to the registration');
  await saveSecretFile(file, `${JSON.stringify({ ...registration, registered_at: request.url }, null, 2)}\n`);
  log('info', `registered as ${registration.executor.public_id}; the registration is kept in ${file}`);
  return registration;
}

/** One registration under one Idempotency-Key: a repeat after a lost answer does not re-pair again. */
function post(url: string, secret: string, body: object, signal: AbortSignal): () => Promise<unknown> {
  const headers = {
    Authorization: `Bearer ${secret}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': randomUUID(),
  };
  return async () => {
    const late = AbortSignal.any([signal, AbortSignal.timeout(ANSWERS_WITHIN_MS)]);
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: late,
      redirect: 'error',
    });
    const answer = (await response.json().catch(() => undefined)) as
      { error?: Partial<RefusedError> } | undefined;
    if (response.ok) return answer;
    const { code = 'unknown', message = `HTTP ${response.status}`, details } = answer?.error ?? {};
    throw new RefusedError(code, response.status, message, details);
  };
}

async function insist<Answer>(
  log: Log,
  signal: AbortSignal,
  request: () => Promise<Answer>,
): Promise<Answer> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await request();
    } catch (fault) {
      signal.throwIfAborted();
      if ((fault instanceof RefusedError && !fault.passing) || attempt + 1 >= MOST_TRIES) throw fault;
      const { message, cause } = fault as Error;
      log('warn', `registering: ${cause instanceof Error ? cause.message : message}; trying again`);
      await pause(backoffMs(attempt, { firstMs: 500 }), signal);
    }
  }
}
