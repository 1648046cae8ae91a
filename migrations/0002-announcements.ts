import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What each executor serves (chapter 2), verbatim: `json` keeps the text as it was sent.
 * Locks: none that matter; it creates a table.
 */
export class Announcements0002 implements MigrationInterface {
  readonly name = 'Announcements0000000000002';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table announcements (
        executor_id uuid primary key references executors,
        account_id uuid not null references accounts,
        -- raised by every replacement, in its transaction
        version bigint not null,
        tools json not null,
        -- the same entries as name, effect_profile, timeout_ms, description and schema digest
        tools_summary json not null,
        tool_names text[] not null,
        environment json not null,
        documents json not null,
        delivery text not null check (delivery in ('claim', 'serve')),
        max_in_flight integer not null,
        -- lower-cased words of names and descriptions, for discovery's q
        search_text text not null,
        announced_at timestamptz not null default now(),
        -- what the row weighs on a page of discovery, known without reading the texts
        whole_bytes integer not null generated always as (
          octet_length(tools::text) + octet_length(environment::text) + octet_length(documents::text)) stored,
        summary_bytes integer not null generated always as (
          octet_length(tools_summary::text) + octet_length(environment::text) + octet_length(documents::text)) stored
      );
      create index announcements_tool_names on announcements using gin (tool_names);
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`drop table announcements`);
  }
}
