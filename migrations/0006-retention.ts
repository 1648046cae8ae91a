import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What retention keeps of a run, how it finds what is due, and whose night it is (chapter 7).
 * Locks: `runs` and `audit_entries` exclusively while columns and indexes are added; seconds on a large table.
 */
export class Retention0006 implements MigrationInterface {
  readonly name = 'Retention0000000000006';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table runs
        -- what a pruned run keeps of its tasks; both null before, and completed_at where it never had one
        add column completed_at timestamptz,
        add column could_have_written boolean;

      -- what is not pruned yet, the oldest first
      create index runs_unpruned on runs (account_id, created_at, id) where details_pruned_at is null;
      -- who uses a declaration, asked before it is deleted
      create index runs_declaration on runs (account_id, declaration_digest) where declaration_digest is not null;
      create index audit_entries_age on audit_entries (at);

      -- pruned runs that may still have rows of tasks, deleted a bounded number at a time
      create table pruned_runs_to_empty (
        account_id uuid not null references accounts,
        run_id uuid not null references runs,
        primary key (account_id, run_id)
      );

      -- the night's job: its last night, and the node that does it until its lease ends
      create table retention_night (
        single boolean primary key default true check (single),
        night date not null,
        holder uuid not null,
        leased_until timestamptz not null,
        finished_at timestamptz
      );
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop table retention_night, pruned_runs_to_empty;
      drop index audit_entries_age, runs_declaration, runs_unpruned;
      alter table runs drop column could_have_written, drop column completed_at;
    `);
  }
}
