import type { Presence } from '../identity/presence.js';

/** What an executor is told about itself; also the answer to an announcement (chapter 2). */
export interface ExecutorDescription {
  readonly executor: {
    readonly public_id: string;
    readonly kind: string;
    readonly status: string;
    readonly display_name: string;
    readonly credential_epoch: number;
    readonly presence: string;
    readonly last_seen_at: Date | null;
    readonly connected_at: Date | null;
  };
  readonly measured_at: Date;
}

export interface ExecutorDescriptionRow {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly display_name: string;
  readonly credential_epoch: number;
  readonly last_seen_at: Date | null;
  readonly connected_at: Date | null;
  readonly measured_at: Date;
}

/** SQL: the columns of `ExecutorDescriptionRow`, from the table executors. */
export const DESCRIPTION_COLUMNS = `id, kind, status, display_name, credential_epoch, last_seen_at, connected_at,
  clock_timestamp() as measured_at`;

export function describeExecutor(row: ExecutorDescriptionRow, presence: Presence): ExecutorDescription {
  const { id, kind, status, display_name, credential_epoch, last_seen_at, connected_at, measured_at } = row;
  return {
    executor: {
      public_id: id,
      kind,
      status,
      display_name,
      credential_epoch,
      presence: presence.of(id, last_seen_at),
      last_seen_at,
      connected_at,
    },
    measured_at,
  };
}
