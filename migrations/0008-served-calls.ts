import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What is remembered of a call that Nexus delivers (chapter 8, Delivery), and how many of them an executor has.
 * Locks: `tasks` and `announcements` exclusively while a column and indexes are added; seconds on a large table.
 */
export class ServedCalls0008 implements MigrationInterface {
  readonly name = 'ServedCalls0000000000008';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table tasks
        -- of a call claimed for its executor: the deadline that stood before, should it turn out undelivered; else null
        add column deadline_before_delivery timestamptz;

      -- what is delivered to an executor just now
      create index tasks_delivered on tasks (addressed_id)
        where status = 'dispatched' and deadline_before_delivery is not null;
      -- who is delivered to
      create index announcements_serving on announcements (executor_id) where delivery = 'serve';

      -- How many calls are delivered to an executor just now. Whoever asks is, until its transaction ends, the only one who
      -- may add to them. Volatile, so that the count sees what was committed while the lock was waited for: the snapshot
      -- of the statement that asks is older.
      create function calls_delivered(executor uuid) returns bigint language plpgsql volatile
        -- a plan made while the table was small would go on scanning it
        set enable_seqscan = off set enable_bitmapscan = off as $$
      begin
        perform pg_advisory_xact_lock(hashtextextended(executor::text, 8));
        return (
          select count(*) from tasks t
          where t.addressed_id = executor and t.status = 'dispatched' and t.deadline_before_delivery is not null);
      end $$;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop function calls_delivered;
      drop index announcements_serving, tasks_delivered;
      alter table tasks drop column deadline_before_delivery;
    `);
  }
}
