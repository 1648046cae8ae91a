import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a claim must know so that no agent's call reaches a tool that only people call (chapter 6, Requests); and by what an
 * inbox finds the pool calls that its provider has claimed.
 * Locks: `announcements` and `tasks` exclusively and for a moment, constant defaults rewrite no row; then the announcements
 * and the open tasks are updated. Of an open call on an agent's run nobody knows who added it: it counts as the agent's,
 * save for what the kernel restores. The index holds up writes to `tasks` while it is built: seconds on a large table.
 */
export class OperatorCapabilities0010 implements MigrationInterface {
  readonly name = 'OperatorCapabilities0000000000010';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      alter table announcements
        -- the names of tool_names that only people call
        add column operator_names text[] not null default '{}';
      alter table tasks
        -- an agent called, in this generation: it never reaches what only people call
        add column of_agent boolean not null default false;

      -- a dispatched task without an executor is a pool's; said so, this index and no other answers
      create index tasks_pool_claimed on tasks (claimed_by, seq)
        where status = 'dispatched' and addressed_id is null and claimed_by is not null;

      update announcements a set operator_names = coalesce((
        select array_agg(tool ->> 'name') from json_array_elements(a.tools) tool
        where (tool -> 'description' is null or tool -> 'input_schema' is null)
          and (tool ->> 'name' <> 'skill' or json_array_length(a.documents) = 0
            or exists (select from executors e where e.id = a.executor_id and e.kind = 'tool_provider'))), '{}');
      update tasks t set of_agent = true from members m
      where t.status in ('dispatched', 'needs_approval') and m.id = t.principal_id and m.kind = 'agent'
        and t.approval ->> 'origin' is distinct from 'kernel';
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop index tasks_pool_claimed;
      alter table tasks drop column of_agent;
      alter table announcements drop column operator_names;
    `);
  }
}
