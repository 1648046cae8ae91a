import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Accounts, members, executors, their credentials, and what administrators did (chapter 1).
 * Locks: none that matter; it creates tables in an empty database.
 */
export class Identity0001 implements MigrationInterface {
  readonly name = 'Identity0000000000001';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table accounts (
        id uuid primary key,
        display_name text not null,
        execution_details_retention_days integer default 90
          check (execution_details_retention_days > 0),
        created_at timestamptz not null default now()
      );

      -- humans and agents: the two kinds of member
      create table members (
        id uuid primary key,
        account_id uuid not null references accounts,
        kind text not null check (kind in ('human', 'agent')),
        display_name text not null,
        role text check (role in ('member', 'admin')),
        steward_id uuid,
        approval_floor text check (approval_floor in ('ask', 'rules', 'bypass')),
        approval_rules json,
        -- an agent's profile, verbatim, and the version its readers cache it by
        configuration json,
        configuration_version bigint not null default 0,
        created_at timestamptz not null default now(),
        unique (account_id, id),
        foreign key (account_id, steward_id) references members (account_id, id),
        check ((kind = 'human') = (role is not null)),
        check ((kind = 'agent') = (steward_id is not null)),
        check ((kind = 'agent') = (approval_floor is not null))
      );

      create table executors (
        id uuid primary key,
        account_id uuid not null references accounts,
        kind text not null check (kind in ('runner', 'agent_application', 'tool_provider')),
        display_name text not null,
        manager_id uuid,
        agent_id uuid,
        registration_identifier text,
        assignment_scope text not null check (assignment_scope in ('user_private', 'account_wide')),
        modules text[] not null,
        machine text not null,
        service_ids text not null default 'pinned' check (service_ids in ('pinned', 'any')),
        status text not null default 'active' check (status in ('active', 'revoked')),
        credential_epoch integer not null default 1,
        shutdown_requested_at timestamptz,
        revoked_at timestamptz,
        connected_at timestamptz,
        last_seen_at timestamptz,
        created_at timestamptz not null default now(),
        unique (account_id, id),
        foreign key (account_id, manager_id) references members (account_id, id),
        foreign key (account_id, agent_id) references members (account_id, id),
        check ((kind = 'agent_application') = (agent_id is not null)),
        check ((kind = 'agent_application') = (manager_id is null))
      );
      -- at most one live executor for each registration key
      create unique index executors_registration on executors (account_id, manager_id, registration_identifier)
        where status = 'active' and manager_id is not null;
      create unique index executors_application on executors (account_id, agent_id)
        where status = 'active' and agent_id is not null;
      create index executors_page on executors (account_id, id);

      -- a live (module, machine) pair is unique in the account
      create table assignments (
        account_id uuid not null references accounts,
        module text not null,
        machine text not null,
        executor_id uuid not null references executors,
        primary key (account_id, module, machine)
      );
      create index assignments_executor on assignments (executor_id);

      create table credentials (
        id uuid primary key,
        account_id uuid not null references accounts,
        plane text not null check (plane in ('member', 'executor_transport', 'platform')),
        name text not null,
        member_id uuid,
        executor_id uuid,
        credential_epoch integer,
        secret_sha256 bytea not null,
        expires_at timestamptz,
        revoked_at timestamptz,
        created_at timestamptz not null default now(),
        last_used_at timestamptz,
        foreign key (account_id, member_id) references members (account_id, id),
        foreign key (account_id, executor_id) references executors (account_id, id),
        check ((plane = 'executor_transport') = (executor_id is not null)),
        check ((plane = 'executor_transport') = (credential_epoch is not null)),
        check ((plane = 'executor_transport') = (member_id is null))
      );
      create index credentials_executor on credentials (executor_id, credential_epoch) where executor_id is not null;
      create index credentials_page on credentials (account_id, id);

      -- which process speaks for an executor; lost with a crash of the server, renewed every 5 s
      create unlogged table incarnations (
        executor_id uuid primary key,
        credential_epoch integer not null,
        incarnation_id text not null,
        heard_at timestamptz not null
      );

      create table audit_entries (
        id uuid primary key,
        account_id uuid not null references accounts,
        at timestamptz not null default now(),
        actor_id uuid,
        action text not null,
        subject_id uuid,
        detail json
      );
      create index audit_entries_page on audit_entries (account_id, id);

      -- the first answer to each Idempotency-Key, sealed with the key itself
      create table idempotency_keys (
        principal_id uuid not null,
        key_sha256 bytea not null,
        request_sha256 bytea not null,
        status integer,
        sealed_answer bytea,
        created_at timestamptz not null default now(),
        primary key (principal_id, key_sha256)
      );
      create index idempotency_keys_age on idempotency_keys (created_at);
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop table idempotency_keys, audit_entries, incarnations, credentials, assignments, executors, members, accounts
    `);
  }
}
