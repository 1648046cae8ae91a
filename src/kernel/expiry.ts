import type { TaskErrorKey } from '../errors/error-table.js';
import { EFFECT_PROFILE_VALUES, type EffectProfile } from './effect-profile.js';
import type { TaskStatus } from './task-status.js';

/** How long a call rests for a person's decision (chapter 6). */
export const APPROVAL_HOLD_MS = 24 * 60 * 60 * 1000;

/** What a member may do about an `uncertain` task. */
export type Recovery = 'retry_with_same_key' | 'lookup';

/** What stands at its deadline. */
export interface Expiring {
  /** A call that was dispatched, or one that rests for approval. */
  readonly kind: 'tool_call' | 'approval';
  readonly claimed: boolean;
  /** As frozen on the task. */
  readonly effect_profile: EffectProfile;
}

export interface Expired {
  readonly status: Extract<TaskStatus, 'timed_out' | 'uncertain'>;
  readonly error_key: TaskErrorKey;
  readonly error_detail?: string;
  readonly recovery?: Recovery;
}

/**
 * The expiry rule (chapter 6), read top down: the first row that applies. The sweep, a late commit and a revocation settle
 * by it; their SQL is checked against it in every cell.
 */
const EXPIRY_TABLE: readonly { readonly applies: (task: Expiring) => boolean; readonly becomes: Expired }[] =
  [
    {
      applies: ({ kind }) => kind === 'approval',
      becomes: { status: 'timed_out', error_key: 'approval_expired' },
    },
    {
      applies: ({ claimed }) => !claimed,
      becomes: { status: 'timed_out', error_key: 'tool_timeout' },
    },
    {
      applies: ({ effect_profile }) => isHarmlessToRepeat(effect_profile),
      becomes: { status: 'timed_out', error_key: 'tool_timeout' },
    },
    {
      applies: () => true,
      becomes: {
        status: 'uncertain',
        error_key: 'tool_uncertain',
        error_detail: 'the effect may have happened',
      },
    },
  ];

/** What a task becomes at its deadline. */
export function expiryOf(task: Expiring): Expired {
  const { becomes } = EXPIRY_TABLE.find(({ applies }) => applies(task)) as (typeof EXPIRY_TABLE)[number];
  if (becomes.status !== 'uncertain') return becomes;
  const recovery = recoveryOf(task.effect_profile);
  return recovery === undefined ? becomes : { ...becomes, recovery };
}

/** The recovery that an `uncertain` task carries; undefined when there is none. */
export function recoveryOf(
  profile: Pick<EffectProfile, 'idempotency' | 'reconciliation'>,
): Recovery | undefined {
  if (profile.idempotency === 'keyed') return 'retry_with_same_key';
  return profile.reconciliation === 'lookup' ? 'lookup' : undefined;
}

/** Every cell of the table: each state a task can be in at its deadline, whether or not it can be reached. */
export function expiryCells(): Expiring[] {
  const { kind, destructive, effect_scope, idempotency, reconciliation } = EFFECT_PROFILE_VALUES;
  const profiles = kind.flatMap((k) =>
    destructive.flatMap((d) =>
      effect_scope.flatMap((e) =>
        idempotency.flatMap((i) =>
          reconciliation.map((r): EffectProfile => ({
            kind: k,
            destructive: d,
            effect_scope: e,
            idempotency: i,
            reconciliation: r,
          })),
        ),
      ),
    ),
  );
  return (['tool_call', 'approval'] as const).flatMap((task) =>
    [false, true].flatMap((claimed) =>
      profiles.map((effect_profile) => ({ kind: task, claimed, effect_profile })),
    ),
  );
}

const isHarmlessToRepeat = ({ kind, idempotency }: EffectProfile): boolean =>
  kind !== 'write' || idempotency === 'intrinsic';
