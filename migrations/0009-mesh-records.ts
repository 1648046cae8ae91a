import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What should exist on the bus (chapter 8): modules; and the calls that the kernel still has to run.
 * Locks: `assignments` against writes while the key is checked, `tasks` while the index is built: seconds on a large table.
 */
export class MeshRecords0009 implements MigrationInterface {
  readonly name = 'MeshRecords0000000000009';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table modules (
        account_id uuid not null references accounts,
        name text not null,
        -- a module without tools is never missed on the bus
        declares_tools boolean not null,
        -- served by tool providers, any of which may take a call
        interchangeable boolean not null,
        primary key (account_id, name)
      );
      insert into modules (account_id, name, declares_tools, interchangeable)
      select a.account_id, a.module, true, bool_and(e.kind = 'tool_provider') and a.module <> 'tools'
      from assignments a join executors e on e.id = a.executor_id
      group by a.account_id, a.module;
      alter table assignments add foreign key (account_id, module) references modules (account_id, name);

      -- calls that the kernel still has to run, those of a lost node among them
      create index tasks_kernel on tasks (started_at) where status = 'dispatched' and addressed_role = 'kernel';
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop index tasks_kernel;
      alter table assignments drop constraint assignments_account_id_module_fkey;
      drop table modules;
    `);
  }
}
