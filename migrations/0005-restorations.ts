import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Restorations and what each asked of which runner (chapter 7). Locks: none that matter; it creates tables. */
export class Restorations0005 implements MigrationInterface {
  readonly name = 'Restorations0000000000005';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table restorations (
        id uuid primary key,
        account_id uuid not null references accounts,
        conversation_id uuid not null,
        from_run_id uuid not null references runs,
        -- the run that it made: its tasks say how far each target has come
        run_id uuid not null references runs,
        created_at timestamptz not null default now(),
        foreign key (account_id, conversation_id) references conversations (account_id, id)
      );

      create table restoration_targets (
        restoration_id uuid not null references restorations,
        ordinal integer not null,
        -- any id that the request named: whether there is such a runner is not told
        runner_id uuid not null,
        task_key text,
        -- why nothing was asked of the runner
        error_key text,
        primary key (restoration_id, ordinal),
        check ((task_key is null) <> (error_key is null))
      );
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`drop table restoration_targets, restorations`);
  }
}
