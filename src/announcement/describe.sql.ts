import type { AccountId } from '../db/account-id.js';
import { statement } from '../db/statement.js';
import { DESCRIPTION_COLUMNS, type ExecutorDescriptionRow } from './executor-description.js';

type Identity = [accountId: AccountId, executorId: string, epoch: number];

/** The executor, while it is active at this epoch. */
const current = `select ${DESCRIPTION_COLUMNS} from executors
  where account_id = $1 and id = $2 and status = 'active' and credential_epoch = $3`;

/** Of a process that names no incarnation: not guarded. */
export const readDescription = statement<Identity, ExecutorDescriptionRow>('executor_describe', current);

/**
 * Takes or keeps the executor's one seat for an incarnation, in one guarded upsert (chapter 1): free, its own, silent for
 * 12 s, or of an older epoch. `seated` is false while another incarnation holds it.
 */
export const takeSeat = statement<
  [...Identity, incarnationId: string],
  ExecutorDescriptionRow & { readonly seated: boolean }
>(
  'executor_take_seat',
  `with executor as (${current}), taken as (
     insert into incarnations as seat (executor_id, credential_epoch, incarnation_id, heard_at)
     select id, credential_epoch, $4, clock_timestamp() from executor
     on conflict (executor_id) do update set credential_epoch = excluded.credential_epoch,
       incarnation_id = excluded.incarnation_id, heard_at = excluded.heard_at
     where seat.credential_epoch < excluded.credential_epoch
       or (seat.credential_epoch = excluded.credential_epoch
         and (seat.incarnation_id = excluded.incarnation_id
           or seat.heard_at <= excluded.heard_at - interval '12 seconds'))
     returning executor_id
   )
   select executor.*, exists (select from taken) as seated from executor`,
);

/** Frees the seat if this incarnation holds it. */
export const leaveSeat = statement<[...Identity, incarnationId: string], ExecutorDescriptionRow>(
  'executor_leave_seat',
  `with executor as (${current}), left_seat as (
     delete from incarnations seat using executor
     where seat.executor_id = executor.id and seat.credential_epoch = executor.credential_epoch
       and seat.incarnation_id = $4
   )
   select executor.* from executor`,
);
