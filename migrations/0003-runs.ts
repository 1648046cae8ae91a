import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Conversations, runs with their frozen declaration, and tasks with their claim, result and evidence
 * (chapters 5 to 7). Locks: none that matter; it creates tables.
 */
export class Runs0003 implements MigrationInterface {
  readonly name = 'Runs0000000000003';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      create table conversations (
        id uuid primary key,
        account_id uuid not null references accounts,
        principal_id uuid not null,
        default_runner_id uuid references executors,
        created_at timestamptz not null default now(),
        unique (account_id, id),
        foreign key (account_id, principal_id) references members (account_id, id)
      );
      create index conversations_page on conversations (principal_id, id);

      -- a frozen declaration is stored once for all runs that received the same one
      create table declarations (
        account_id uuid not null references accounts,
        digest bytea not null,
        tool_definitions json not null,
        environment json not null,
        primary key (account_id, digest)
      );

      create table runs (
        id uuid primary key,
        account_id uuid not null references accounts,
        principal_id uuid not null,
        conversation_id uuid,
        parent_run_id uuid references runs,
        default_runner_id uuid references executors,
        -- null once retention has pruned it
        declaration_digest bytea,
        approval_mode text not null check (approval_mode in ('bypass', 'ask', 'rules')),
        approval_rules json not null,
        -- the steward's rules on the agent as they stood: they come first in every mode
        steward_rules json not null default '[]',
        created_at timestamptz not null default now(),
        stopped_at timestamptz,
        details_pruned_at timestamptz,
        foreign key (account_id, principal_id) references members (account_id, id),
        foreign key (account_id, conversation_id) references conversations (account_id, id),
        foreign key (account_id, declaration_digest) references declarations (account_id, digest)
      );
      create index runs_page on runs (principal_id, id);
      create index runs_account_page on runs (account_id, id);
      create index runs_conversation on runs (conversation_id, id) where conversation_id is not null;

      create table tasks (
        run_id uuid not null references runs,
        task_key text not null,
        account_id uuid not null,
        principal_id uuid not null,
        -- order of acceptance
        seq bigint generated always as identity,
        kind text not null default 'tool_call' check (kind in ('tool_call')),
        tool_name text not null,
        tool_alias text,
        tool_call_id text,
        tool_input json not null,
        effect_profile json not null,
        status text not null check (status in
          ('needs_approval', 'dispatched', 'completed', 'failed', 'timed_out', 'uncertain', 'canceled')),
        generation integer not null default 1,
        -- the runner chosen at acceptance; never changes
        target_id uuid,
        -- who the call is delivered to: a pool has a role and no executor
        addressed_role text not null check (addressed_role in
          ('runner', 'agent_application', 'tool_provider', 'kernel')),
        addressed_id uuid,
        timeout_ms integer not null,
        -- the larger of the frozen and the announced timeout, what an extension may reach (chapter 6)
        extension_bound_ms integer not null,
        accepted_at timestamptz not null default clock_timestamp(),
        started_at timestamptz,
        deadline_at timestamptz,
        -- the claim of this generation, by one executor at one epoch
        claimed_by uuid,
        claim_epoch integer,
        claim_token_sha256 bytea,
        claimed_at timestamptz,
        settled_at timestamptz,
        content json,
        structured_content json,
        is_error boolean,
        title text,
        metadata json,
        error_key text,
        error_detail text,
        approval json,
        -- of a call that rests: the announced entries that a person is asked about; null for the kernel's own tools
        announced_sha256 bytea,
        -- capture first_runner_write (chapter 7): written by the first claim of a write on a runner
        capture_generation integer,
        capture_runner_id uuid,
        capture_claimed_at timestamptz,
        capture_checkpoint json,
        primary key (run_id, task_key),
        check ((claimed_by is null) = (claim_token_sha256 is null)),
        check ((status in ('completed', 'failed', 'timed_out', 'uncertain', 'canceled')) = (settled_at is not null))
      );
      -- for pages, which say so; a read of one task must not find this one: it would walk through its whole run
      create index tasks_run on tasks (run_id, seq) where seq > 0;
      create index tasks_inbox on tasks (addressed_id, seq) where status = 'dispatched' and addressed_id is not null;
      create index tasks_pool on tasks (account_id, tool_name, seq)
        where status = 'dispatched' and addressed_role = 'tool_provider';
      create index tasks_resting on tasks (principal_id, seq) where status = 'needs_approval';
      create index tasks_resting_account on tasks (account_id, seq) where status = 'needs_approval';
      create index tasks_due on tasks (deadline_at) where status in ('dispatched', 'needs_approval');
      create index tasks_captured on tasks (run_id, capture_claimed_at) where capture_claimed_at is not null;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`drop table tasks, runs, declarations, conversations`);
  }
}
