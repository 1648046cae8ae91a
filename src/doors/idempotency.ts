import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import { type Sql, statement } from '../db/statement.js';
import { JsonText, writeJson } from '../db/json-text.js';
import { refuse } from '../errors/refusal.js';
import { Answer } from './answer.js';
import type { Caller } from './caller.js';
import type { VerbInput } from './input.js';
import type { VerbDeclaration } from './verb.js';

/** A new key reserves its row; one older than 24 hours may be used again (chapter 9). */
const reserve = statement<[principal: string, key: Buffer, request: Buffer], { reserved: boolean }>(
  'idempotency_reserve',
  `insert into idempotency_keys (principal_id, key_sha256, request_sha256) values ($1, $2, $3)
   on conflict (principal_id, key_sha256) do update
     set request_sha256 = excluded.request_sha256, status = null, sealed_answer = null, created_at = now()
     where idempotency_keys.created_at < now() - interval '24 hours'
   returning true as reserved`,
);

const store = statement<[principal: string, key: Buffer, status: number, answer: Buffer], never>(
  'idempotency_store',
  `update idempotency_keys set status = $3, sealed_answer = $4 where principal_id = $1 and key_sha256 = $2`,
);

const read = statement<
  [principal: string, key: Buffer],
  { request_sha256: Buffer; status: number; sealed_answer: Buffer }
>(
  'idempotency_read',
  `select request_sha256, status, sealed_answer from idempotency_keys where principal_id = $1 and key_sha256 = $2`,
);

/** Deletes at most `limit` of the oldest; one that is being used again is left. */
const forget = statement<[limit: number], { count: number }>(
  'idempotency_forget',
  `with old as materialized (
     select principal_id, key_sha256 from idempotency_keys where created_at < now() - interval '24 hours'
     order by created_at limit $1 for update skip locked
   ), forgotten as (
     delete from idempotency_keys k using old where k.principal_id = old.principal_id and k.key_sha256 = old.key_sha256
     returning 1
   )
   select count(*)::integer as count from forgotten`,
);

/** Keys that are forgotten in one statement. */
const FORGOTTEN = 1_000;

/**
 * Makes a verb safe to repeat by `Idempotency-Key` (on the bus the field `idempotency_key`), per principal, for 24
 * hours. The key's row and the verb's writes are one transaction: there is an answer to replay or there was no effect.
 * Answers may hold a secret that is shown once, so they are sealed with the key itself, of which only a hash is stored.
 */
@Injectable()
export class Idempotency {
  constructor(private readonly database: Database) {}

  /** Runs `work` once for the key. A repeat answers the first answer with `Idempotency-Replayed: true`. */
  async once(
    verb: VerbDeclaration,
    caller: Caller,
    input: VerbInput,
    work: (sql: Sql) => Promise<Answer>,
  ): Promise<Answer> {
    const key = keyOf(input);
    if (key === undefined) return this.database.transaction(work);
    const keyHash = sha256(key);
    const requestHash = sha256(`${verb.name}\n${pathOf(verb, input)}\n${input.body.text}`);
    return this.database.transaction(async (sql) => {
      if (await sql.row(reserve, caller.principalId, keyHash, requestHash)) {
        const answer = await work(sql);
        const sealed = seal(writeJson(answer.body), key, caller.principalId);
        await sql.rows(store, caller.principalId, keyHash, answer.status ?? 200, sealed);
        return answer;
      }
      const first = await sql.row(read, caller.principalId, keyHash);
      if (!first?.request_sha256.equals(requestHash)) throw refuse('idempotency_conflict');
      const body = new JsonText(open(first.sealed_answer, key, caller.principalId));
      return new Answer(body, first.status, { 'Idempotency-Replayed': 'true' });
    });
  }

  /** Deletes keys older than 24 hours, a bounded number at a time. */
  async forgetOld(): Promise<void> {
    while ((await this.database.row(forget, FORGOTTEN))?.count === FORGOTTEN);
  }
}

/** Whether a repeat of this request could be recognised (chapter 9). */
export const hasIdempotencyKey = (input: VerbInput): boolean =>
  input.header('idempotency-key') !== undefined || input.body.object['idempotency_key'] !== undefined;

function keyOf(input: VerbInput): string | undefined {
  const key = input.header('idempotency-key') ?? input.body.object['idempotency_key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw refuse('parameter_invalid', 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
  return key;
}

/** The values of the verb's path parameters: the same body on another path is another request. */
function pathOf(verb: VerbDeclaration, input: VerbInput): string {
  const names = [...(verb.rest?.path ?? '').matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return names.map((name) => String(input.field(name))).join('/');
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

function sealingKey(key: string, principalId: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, principalId, 'nexus idempotency', 32));
}

function seal(text: string, key: string, principalId: string): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key, principalId), nonce);
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function open(sealed: Buffer, key: string, principalId: string): string {
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(key, principalId), sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(12, 28));
  return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8');
}
