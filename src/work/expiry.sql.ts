import { expiryOf } from '../kernel/expiry.js';
import { WORST_EFFECT_PROFILE } from '../kernel/effect-profile.js';

/**
 * The expiry rule (chapter 6) as SQL over a tasks alias: what a task becomes whose time is over. The same table as
 * `kernel/expiry.ts`, whose texts it takes; a test compares both in every cell. The sweep, a late commit and a revocation
 * all settle by these three.
 */
const approval = expiryOf({ kind: 'approval', claimed: false, effect_profile: WORST_EFFECT_PROFILE });
const unclaimed = expiryOf({ kind: 'tool_call', claimed: false, effect_profile: WORST_EFFECT_PROFILE });
const uncertain = expiryOf({ kind: 'tool_call', claimed: true, effect_profile: WORST_EFFECT_PROFILE });

/** Claimed, and its effect may have happened and matter. */
const isUncertain = (t: string): string => `(${t}.status <> 'needs_approval' and ${t}.claimed_by is not null
  and ${t}.effect_profile ->> 'kind' not in ('pure', 'read_only') and ${t}.effect_profile ->> 'idempotency' <> 'intrinsic')`;

/** SQL: the status a task expires to. */
export const expiredStatus = (t: string): string =>
  `case when ${isUncertain(t)} then '${uncertain.status}' else '${unclaimed.status}' end`;

/** SQL: the error key that says so. */
export const expiredErrorKey = (t: string): string => `case
  when ${t}.status = 'needs_approval' then '${approval.error_key}'
  when ${isUncertain(t)} then '${uncertain.error_key}'
  else '${unclaimed.error_key}' end`;

/** SQL: its detail; null where the key says all. */
export const expiredErrorDetail = (t: string): string =>
  `case when ${isUncertain(t)} then '${uncertain.error_detail ?? ''}' end`;

/**
 * SQL: the task of this alias is not due yet. Asked of each row that another index finds: `tasks_due` is the sweep's, and to
 * walk it for one executor's rows is to walk everybody's.
 */
export const isBeforeDeadline = (task: string): string => `(${task}.deadline_at > now()) is true`;
