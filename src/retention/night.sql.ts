import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';

/** How long a node that does the night's job may be silent before another goes on with it. */
const LEASE = `interval '2 minutes'`;

/**
 * Takes the night's job: a row for the node that is to do it, none where the night is done or another node is at it. A night
 * begins at `hour` UTC, by PostgreSQL's clock, and is caught up on when no node lived then. One row read by its key.
 */
export const takeNight = statement<[hour: number, holder: string], { readonly night: string }>(
  'retention_take_night',
  `insert into retention_night as last (night, holder, leased_until)
   values ((now() at time zone 'utc' - $1 * interval '1 hour')::date, $2, now() + ${LEASE})
   on conflict (single) do update
     set night = excluded.night, holder = excluded.holder, leased_until = excluded.leased_until, finished_at = null
     where case when last.finished_at is null then last.leased_until < now() else last.night < excluded.night end
   returning night::text as night`,
);

/** Renews the lease; no row where another node has taken the job. */
export const renewLease = statement<[holder: string], { readonly night: string }>(
  'retention_renew_lease',
  `update retention_night set leased_until = now() + ${LEASE}
   where holder = $1 and finished_at is null returning night::text as night`,
);

/** Ends the lease, of a night that is done or that another node is to go on with. */
export const endLease = statement<[holder: string, isDone: boolean], never>(
  'retention_end_lease',
  `update retention_night set leased_until = '-infinity', finished_at = case when $2 then now() end
   where holder = $1 and finished_at is null`,
);

export const readAccounts = statement<[], { readonly id: AccountId }>(
  'retention_read_accounts',
  `select id from accounts order by id`,
);
