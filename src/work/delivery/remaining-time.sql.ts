import { statement } from '../../db/statement.js';
import { holdsClaim, isTaskOf, jobRows } from '../jobs.sql.js';

/** How long claims still last, by ordinal: those that hold no longer, or whose time is over, are not answered. */
export const readRemaining = statement<
  [jobs: string],
  { readonly ordinal: number; readonly remaining_ms: number }
>(
  'work_read_remaining',
  `select job.ordinal, (extract(epoch from t.deadline_at - clock_timestamp()) * 1000)::integer as remaining_ms
   from (${jobRows()}) job join tasks t on ${isTaskOf('t', 'job')}
   where case when t.status <> 'dispatched' then false
     when ${holdsClaim('t', 'job')} then t.deadline_at > clock_timestamp() else false end`,
);
