import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { isLiveCredential, mayReach } from './accept-tasks.sql.js';

export interface ConversationRow {
  readonly id: string;
  readonly account_id: AccountId;
  readonly principal_id: string;
  readonly steward_id: string | null;
  readonly default_runner_id: string | null;
  readonly created_at: Date;
}

const columns = (c: string, principal: string): string => `
  ${c}.id, ${c}.account_id, ${c}.principal_id, ${principal}.steward_id, ${c}.default_runner_id, ${c}.created_at`;

/** SQL: no default, or a runner that principal `m` and caller `c` both may address. */
const isAdmissible = (
  runnerId: string,
  m: string,
  c: string,
): string => `(${runnerId}::uuid is null or exists (
  select from executors e
  where e.account_id = ${m}.account_id and e.id = ${runnerId} and e.kind = 'runner' and ${mayReach('e', m, c)}))`;

/** Makes a conversation of the caller; no row where the runner is not eligible or the credential not live. */
export const createConversation = statement<
  [accountId: AccountId, credentialId: string, callerId: string, id: string, defaultRunnerId: string | null],
  ConversationRow
>(
  'conversation_create',
  `with made as (
     insert into conversations (id, account_id, principal_id, default_runner_id)
     select $4, m.account_id, m.id, $5
     from members m join credentials k on k.id = $2 and k.member_id = m.id and ${isLiveCredential('k')}
     where m.account_id = $1 and m.id = $3 and ${isAdmissible('$5', 'm', 'm')}
     returning *
   )
   select ${columns('made', 'm')} from made join members m on m.id = made.principal_id`,
);

/** Replaces the default; no row where the runner is not eligible. Who sees the conversation was asked before. */
export const setDefaultRunner = statement<
  [accountId: AccountId, id: string, callerId: string, defaultRunnerId: string | null],
  ConversationRow
>(
  'conversation_set_default_runner',
  `with moved as (
     update conversations v set default_runner_id = $4
     from members m, members c
     where v.account_id = $1 and v.id = $2 and m.id = v.principal_id and c.account_id = $1 and c.id = $3
       and ${isAdmissible('$4', 'm', 'c')}
     returning v.*
   )
   select ${columns('moved', 'm')} from moved join members m on m.id = moved.principal_id`,
);

export const readConversation = statement<[accountId: AccountId, id: string], ConversationRow>(
  'conversation_read',
  `select ${columns('v', 'm')} from conversations v join members m on m.id = v.principal_id
   where v.account_id = $1 and v.id = $2`,
);

/** A conversation on the wire (chapter 5, Hosts). */
export const conversationJson = ({ id, default_runner_id, created_at }: ConversationRow): object => ({
  conversation: { public_id: id, default_runner_executor_public_id: default_runner_id, created_at },
});
