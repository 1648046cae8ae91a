import type { AccountId } from '../../db/account-id.js';
import { statement } from '../../db/statement.js';

/** An account has a bus user from now on, or still has. */
export const rememberBusAccount = statement<[AccountId], never>(
  'bus_account_remember',
  `insert into bus_accounts (account_id) values ($1) on conflict do nothing`,
);

/** What the server knows of the account is out of date from now on: users were revoked. */
export const outdateBusAccount = statement<[AccountId], never>(
  'bus_account_outdate',
  `update bus_accounts set wanted = wanted + 1 where account_id = $1`,
);

/** A page of the accounts that have bus users. */
export const readBusAccounts = statement<[after: AccountId, limit: number], { accountId: AccountId }>(
  'bus_accounts_read',
  `select account_id as "accountId" from bus_accounts where account_id > $1 order by account_id limit $2`,
);

/** Accounts of which the server does not know the newest. */
export const readUntoldBusAccounts = statement<[limit: number], { accountId: AccountId }>(
  'bus_accounts_untold',
  `select account_id as "accountId" from bus_accounts where told < wanted order by account_id limit $1`,
);

/** One node at a time tells the server of an account, so that an older list never comes after a newer one. */
export const lockTelling = statement<[AccountId], never>(
  'bus_account_lock',
  `select pg_advisory_xact_lock(7420003, hashtext($1))`,
);

/** No row where the account has no bus user. */
export const readTelling = statement<
  [AccountId],
  { name: string; wanted: string; isTold: boolean; issuedAt: number }
>(
  'bus_account_telling',
  `select a.display_name as name, b.wanted, b.told = b.wanted as "isTold", b.issued_at::float8 as "issuedAt"
   from bus_accounts b join accounts a on a.id = b.account_id where b.account_id = $1`,
);

/**
 * The public keys of revoked users, the newest first. Those that have expired can't connect anyway. One more revocation
 * than `limit` pushes out the oldest.
 */
export const readRevokedUsers = statement<[AccountId, limit: number], { key: string }>(
  'bus_account_revoked_users',
  `select bus_user_key as key from credentials
   where account_id = $1 and bus_user_key is not null and revoked_at is not null
     and (expires_at is null or expires_at > now())
   order by revoked_at desc, id limit $2`,
);

export const noteTold = statement<[AccountId, wanted: string, issuedAt: number], never>(
  'bus_account_told',
  `update bus_accounts set told = $2::bigint, issued_at = $3::bigint where account_id = $1`,
);
