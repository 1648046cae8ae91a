import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which of its tools an executor serves to people only (chapter 2), where a statement can ask it: a provider takes none of
 * them from a pool for an agent.
 * Locks: `announcements` exclusively, once for each row.
 */
export class OperatorCapabilities0011 implements MigrationInterface {
  readonly name = 'OperatorCapabilities0000000000011';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table announcements
        -- of tool_names those without description or schema
        add column people_only text[] not null default '{}';

      update announcements set people_only = array(
        select tool ->> 'name' from json_array_elements(tools) tool
        where tool -> 'description' is null or tool -> 'input_schema' is null);
      alter table announcements alter column people_only drop default;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`alter table announcements drop column people_only`);
  }
}
