import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which kernel names an account gives to its tool providers (chapter 5, Where it goes).
 * Locks: accounts, exclusively and for a moment; a constant default rewrites no row.
 */
export class ToolProviderOverrides0004 implements MigrationInterface {
  readonly name = 'ToolProviderOverrides0000000000004';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`alter table accounts add column tool_provider_overrides text[] not null default '{}'`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`alter table accounts drop column tool_provider_overrides`);
  }
}
