import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Micro services as runners: the id that a library minted (chapter 8).
 * Locks: `announcements` exclusively while a column is added; no row is rewritten.
 */
export class InstanceIds0011 implements MigrationInterface {
  readonly name = 'InstanceIds0000000000011';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- bound by the executor's own INFO document; null after any other announcement
      alter table announcements add column instance_id text;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`alter table announcements drop column instance_id`);
  }
}
