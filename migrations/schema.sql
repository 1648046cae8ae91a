-- What the migrations make. Written by `npm run schema`; do not edit.

create table accounts (
  id uuid not null,
  display_name text not null,
  execution_details_retention_days integer default 90,
  created_at timestamp with time zone not null default now(),
  tool_provider_overrides text[] not null default '{}'::text[],
  constraint accounts_execution_details_retention_days_check CHECK ((execution_details_retention_days > 0)),
  constraint accounts_pkey PRIMARY KEY (id)
);

create table announcements (
  executor_id uuid not null,
  account_id uuid not null,
  version bigint not null,
  tools json not null,
  tools_summary json not null,
  tool_names text[] not null,
  environment json not null,
  documents json not null,
  delivery text not null,
  max_in_flight integer not null,
  search_text text not null,
  announced_at timestamp with time zone not null default now(),
  whole_bytes integer not null default ((octet_length((tools)::text) + octet_length((environment)::text)) + octet_length((documents)::text)),
  summary_bytes integer not null default ((octet_length((tools_summary)::text) + octet_length((environment)::text)) + octet_length((documents)::text)),
  operator_names text[] not null default '{}'::text[],
  instance_id text,
  constraint announcements_delivery_check CHECK ((delivery = ANY (ARRAY['claim'::text, 'serve'::text]))),
  constraint announcements_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint announcements_executor_id_fkey FOREIGN KEY (executor_id) REFERENCES executors(id),
  constraint announcements_pkey PRIMARY KEY (executor_id)
);
CREATE INDEX announcements_serving ON public.announcements USING btree (executor_id) WHERE (delivery = 'serve'::text);
CREATE INDEX announcements_tool_names ON public.announcements USING gin (tool_names);

create table assignments (
  account_id uuid not null,
  module text not null,
  machine text not null,
  executor_id uuid not null,
  constraint assignments_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint assignments_account_id_module_fkey FOREIGN KEY (account_id, module) REFERENCES modules(account_id, name),
  constraint assignments_executor_id_fkey FOREIGN KEY (executor_id) REFERENCES executors(id),
  constraint assignments_pkey PRIMARY KEY (account_id, module, machine)
);
CREATE INDEX assignments_executor ON public.assignments USING btree (executor_id);

create table audit_entries (
  id uuid not null,
  account_id uuid not null,
  at timestamp with time zone not null default now(),
  actor_id uuid,
  action text not null,
  subject_id uuid,
  detail json,
  constraint audit_entries_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint audit_entries_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_entries_age ON public.audit_entries USING btree (at);
CREATE INDEX audit_entries_page ON public.audit_entries USING btree (account_id, id);

create table bus_accounts (
  account_id uuid not null,
  wanted bigint not null default 1,
  told bigint not null default 0,
  issued_at bigint not null default 0,
  constraint bus_accounts_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint bus_accounts_pkey PRIMARY KEY (account_id)
);
CREATE INDEX bus_accounts_untold ON public.bus_accounts USING btree (account_id) WHERE (told < wanted);

create table conversations (
  id uuid not null,
  account_id uuid not null,
  principal_id uuid not null,
  default_runner_id uuid,
  created_at timestamp with time zone not null default now(),
  constraint conversations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint conversations_account_id_principal_id_fkey FOREIGN KEY (account_id, principal_id) REFERENCES members(account_id, id),
  constraint conversations_default_runner_id_fkey FOREIGN KEY (default_runner_id) REFERENCES executors(id),
  constraint conversations_pkey PRIMARY KEY (id),
  constraint conversations_account_id_id_key UNIQUE (account_id, id)
);
CREATE INDEX conversations_page ON public.conversations USING btree (principal_id, id);

create table credentials (
  id uuid not null,
  account_id uuid not null,
  plane text not null,
  name text not null,
  member_id uuid,
  executor_id uuid,
  credential_epoch integer,
  secret_sha256 bytea not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone,
  bus_user_key text,
  constraint credentials_check CHECK (((plane = 'executor_transport'::text) = (executor_id IS NOT NULL))),
  constraint credentials_check1 CHECK (((plane = 'executor_transport'::text) = (credential_epoch IS NOT NULL))),
  constraint credentials_check2 CHECK (((plane = 'executor_transport'::text) = (member_id IS NULL))),
  constraint credentials_plane_check CHECK ((plane = ANY (ARRAY['member'::text, 'executor_transport'::text, 'platform'::text]))),
  constraint credentials_account_id_executor_id_fkey FOREIGN KEY (account_id, executor_id) REFERENCES executors(account_id, id),
  constraint credentials_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint credentials_account_id_member_id_fkey FOREIGN KEY (account_id, member_id) REFERENCES members(account_id, id),
  constraint credentials_pkey PRIMARY KEY (id)
);
CREATE INDEX credentials_executor ON public.credentials USING btree (executor_id, credential_epoch) WHERE (executor_id IS NOT NULL);
CREATE INDEX credentials_page ON public.credentials USING btree (account_id, id);
CREATE INDEX credentials_revoked_users ON public.credentials USING btree (account_id, revoked_at DESC) WHERE ((bus_user_key IS NOT NULL) AND (revoked_at IS NOT NULL));

create table declarations (
  account_id uuid not null,
  digest bytea not null,
  tool_definitions json not null,
  environment json not null,
  constraint declarations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint declarations_pkey PRIMARY KEY (account_id, digest)
);

create table executors (
  id uuid not null,
  account_id uuid not null,
  kind text not null,
  display_name text not null,
  manager_id uuid,
  agent_id uuid,
  registration_identifier text,
  assignment_scope text not null,
  modules text[] not null,
  machine text not null,
  service_ids text not null default 'pinned'::text,
  status text not null default 'active'::text,
  credential_epoch integer not null default 1,
  shutdown_requested_at timestamp with time zone,
  revoked_at timestamp with time zone,
  connected_at timestamp with time zone,
  last_seen_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint executors_assignment_scope_check CHECK ((assignment_scope = ANY (ARRAY['user_private'::text, 'account_wide'::text]))),
  constraint executors_check CHECK (((kind = 'agent_application'::text) = (agent_id IS NOT NULL))),
  constraint executors_check1 CHECK (((kind = 'agent_application'::text) = (manager_id IS NULL))),
  constraint executors_kind_check CHECK ((kind = ANY (ARRAY['runner'::text, 'agent_application'::text, 'tool_provider'::text]))),
  constraint executors_service_ids_check CHECK ((service_ids = ANY (ARRAY['pinned'::text, 'any'::text]))),
  constraint executors_status_check CHECK ((status = ANY (ARRAY['active'::text, 'revoked'::text]))),
  constraint executors_account_id_agent_id_fkey FOREIGN KEY (account_id, agent_id) REFERENCES members(account_id, id),
  constraint executors_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint executors_account_id_manager_id_fkey FOREIGN KEY (account_id, manager_id) REFERENCES members(account_id, id),
  constraint executors_pkey PRIMARY KEY (id),
  constraint executors_account_id_id_key UNIQUE (account_id, id)
);
CREATE UNIQUE INDEX executors_application ON public.executors USING btree (account_id, agent_id) WHERE ((status = 'active'::text) AND (agent_id IS NOT NULL));
CREATE INDEX executors_page ON public.executors USING btree (account_id, id);
CREATE UNIQUE INDEX executors_registration ON public.executors USING btree (account_id, manager_id, registration_identifier) WHERE ((status = 'active'::text) AND (manager_id IS NOT NULL));

create table idempotency_keys (
  principal_id uuid not null,
  key_sha256 bytea not null,
  request_sha256 bytea not null,
  status integer,
  sealed_answer bytea,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (principal_id, key_sha256)
);
CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

create unlogged table incarnations (
  executor_id uuid not null,
  credential_epoch integer not null,
  incarnation_id text not null,
  heard_at timestamp with time zone not null,
  constraint incarnations_pkey PRIMARY KEY (executor_id)
);

create table members (
  id uuid not null,
  account_id uuid not null,
  kind text not null,
  display_name text not null,
  role text,
  steward_id uuid,
  approval_floor text,
  approval_rules json,
  configuration json,
  configuration_version bigint not null default 0,
  created_at timestamp with time zone not null default now(),
  constraint members_approval_floor_check CHECK ((approval_floor = ANY (ARRAY['ask'::text, 'rules'::text, 'bypass'::text]))),
  constraint members_check CHECK (((kind = 'human'::text) = (role IS NOT NULL))),
  constraint members_check1 CHECK (((kind = 'agent'::text) = (steward_id IS NOT NULL))),
  constraint members_check2 CHECK (((kind = 'agent'::text) = (approval_floor IS NOT NULL))),
  constraint members_kind_check CHECK ((kind = ANY (ARRAY['human'::text, 'agent'::text]))),
  constraint members_role_check CHECK ((role = ANY (ARRAY['member'::text, 'admin'::text]))),
  constraint members_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint members_account_id_steward_id_fkey FOREIGN KEY (account_id, steward_id) REFERENCES members(account_id, id),
  constraint members_pkey PRIMARY KEY (id),
  constraint members_account_id_id_key UNIQUE (account_id, id)
);

create table modules (
  account_id uuid not null,
  name text not null,
  declares_tools boolean not null,
  interchangeable boolean not null,
  constraint modules_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint modules_pkey PRIMARY KEY (account_id, name)
);

create table pruned_runs_to_empty (
  account_id uuid not null,
  run_id uuid not null,
  constraint pruned_runs_to_empty_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint pruned_runs_to_empty_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id),
  constraint pruned_runs_to_empty_pkey PRIMARY KEY (account_id, run_id)
);

create table restoration_targets (
  restoration_id uuid not null,
  ordinal integer not null,
  runner_id uuid not null,
  task_key text,
  error_key text,
  constraint restoration_targets_check CHECK (((task_key IS NULL) <> (error_key IS NULL))),
  constraint restoration_targets_restoration_id_fkey FOREIGN KEY (restoration_id) REFERENCES restorations(id),
  constraint restoration_targets_pkey PRIMARY KEY (restoration_id, ordinal)
);

create table restorations (
  id uuid not null,
  account_id uuid not null,
  conversation_id uuid not null,
  from_run_id uuid not null,
  run_id uuid not null,
  created_at timestamp with time zone not null default now(),
  constraint restorations_account_id_conversation_id_fkey FOREIGN KEY (account_id, conversation_id) REFERENCES conversations(account_id, id),
  constraint restorations_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint restorations_from_run_id_fkey FOREIGN KEY (from_run_id) REFERENCES runs(id),
  constraint restorations_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id),
  constraint restorations_pkey PRIMARY KEY (id)
);

create table retention_night (
  single boolean not null default true,
  night date not null,
  holder uuid not null,
  leased_until timestamp with time zone not null,
  finished_at timestamp with time zone,
  constraint retention_night_single_check CHECK (single),
  constraint retention_night_pkey PRIMARY KEY (single)
);

create table runs (
  id uuid not null,
  account_id uuid not null,
  principal_id uuid not null,
  conversation_id uuid,
  parent_run_id uuid,
  default_runner_id uuid,
  declaration_digest bytea,
  approval_mode text not null,
  approval_rules json not null,
  steward_rules json not null default '[]'::json,
  created_at timestamp with time zone not null default now(),
  stopped_at timestamp with time zone,
  details_pruned_at timestamp with time zone,
  completed_at timestamp with time zone,
  could_have_written boolean,
  constraint runs_approval_mode_check CHECK ((approval_mode = ANY (ARRAY['bypass'::text, 'ask'::text, 'rules'::text]))),
  constraint runs_account_id_conversation_id_fkey FOREIGN KEY (account_id, conversation_id) REFERENCES conversations(account_id, id),
  constraint runs_account_id_declaration_digest_fkey FOREIGN KEY (account_id, declaration_digest) REFERENCES declarations(account_id, digest),
  constraint runs_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint runs_account_id_principal_id_fkey FOREIGN KEY (account_id, principal_id) REFERENCES members(account_id, id),
  constraint runs_default_runner_id_fkey FOREIGN KEY (default_runner_id) REFERENCES executors(id),
  constraint runs_parent_run_id_fkey FOREIGN KEY (parent_run_id) REFERENCES runs(id),
  constraint runs_pkey PRIMARY KEY (id)
);
CREATE INDEX runs_account_page ON public.runs USING btree (account_id, id);
CREATE INDEX runs_conversation ON public.runs USING btree (conversation_id, id) WHERE (conversation_id IS NOT NULL);
CREATE INDEX runs_declaration ON public.runs USING btree (account_id, declaration_digest) WHERE (declaration_digest IS NOT NULL);
CREATE INDEX runs_page ON public.runs USING btree (principal_id, id);
CREATE INDEX runs_unpruned ON public.runs USING btree (account_id, created_at, id) WHERE (details_pruned_at IS NULL);

create table tasks (
  run_id uuid not null,
  task_key text not null,
  account_id uuid not null,
  principal_id uuid not null,
  seq bigint not null generated always as identity,
  kind text not null default 'tool_call'::text,
  tool_name text not null,
  tool_alias text,
  tool_call_id text,
  tool_input json not null,
  effect_profile json not null,
  status text not null,
  generation integer not null default 1,
  target_id uuid,
  addressed_role text not null,
  addressed_id uuid,
  timeout_ms integer not null,
  extension_bound_ms integer not null,
  accepted_at timestamp with time zone not null default clock_timestamp(),
  started_at timestamp with time zone,
  deadline_at timestamp with time zone,
  claimed_by uuid,
  claim_epoch integer,
  claim_token_sha256 bytea,
  claimed_at timestamp with time zone,
  settled_at timestamp with time zone,
  content json,
  structured_content json,
  is_error boolean,
  title text,
  metadata json,
  error_key text,
  error_detail text,
  approval json,
  announced_sha256 bytea,
  capture_generation integer,
  capture_runner_id uuid,
  capture_claimed_at timestamp with time zone,
  capture_checkpoint json,
  deadline_before_delivery timestamp with time zone,
  of_agent boolean not null default false,
  constraint tasks_addressed_role_check CHECK ((addressed_role = ANY (ARRAY['runner'::text, 'agent_application'::text, 'tool_provider'::text, 'kernel'::text]))),
  constraint tasks_check CHECK (((claimed_by IS NULL) = (claim_token_sha256 IS NULL))),
  constraint tasks_check1 CHECK (((status = ANY (ARRAY['completed'::text, 'failed'::text, 'timed_out'::text, 'uncertain'::text, 'canceled'::text])) = (settled_at IS NOT NULL))),
  constraint tasks_kind_check CHECK ((kind = 'tool_call'::text)),
  constraint tasks_status_check CHECK ((status = ANY (ARRAY['needs_approval'::text, 'dispatched'::text, 'completed'::text, 'failed'::text, 'timed_out'::text, 'uncertain'::text, 'canceled'::text]))),
  constraint tasks_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(id),
  constraint tasks_pkey PRIMARY KEY (run_id, task_key)
);
CREATE INDEX tasks_captured ON public.tasks USING btree (run_id, capture_claimed_at) WHERE (capture_claimed_at IS NOT NULL);
CREATE INDEX tasks_delivered ON public.tasks USING btree (addressed_id) WHERE ((status = 'dispatched'::text) AND (deadline_before_delivery IS NOT NULL));
CREATE INDEX tasks_due ON public.tasks USING btree (deadline_at) WHERE (status = ANY (ARRAY['dispatched'::text, 'needs_approval'::text]));
CREATE INDEX tasks_inbox ON public.tasks USING btree (addressed_id, seq) WHERE ((status = 'dispatched'::text) AND (addressed_id IS NOT NULL));
CREATE INDEX tasks_kernel ON public.tasks USING btree (started_at) WHERE ((status = 'dispatched'::text) AND (addressed_role = 'kernel'::text));
CREATE INDEX tasks_pool ON public.tasks USING btree (account_id, tool_name, seq) WHERE ((status = 'dispatched'::text) AND (addressed_role = 'tool_provider'::text));
CREATE INDEX tasks_pool_claimed ON public.tasks USING btree (claimed_by, seq) WHERE ((status = 'dispatched'::text) AND (addressed_id IS NULL) AND (claimed_by IS NOT NULL));
CREATE INDEX tasks_resting ON public.tasks USING btree (principal_id, seq) WHERE (status = 'needs_approval'::text);
CREATE INDEX tasks_resting_account ON public.tasks USING btree (account_id, seq) WHERE (status = 'needs_approval'::text);
CREATE INDEX tasks_run ON public.tasks USING btree (run_id, seq) WHERE (seq > 0);

CREATE OR REPLACE FUNCTION public.calls_delivered(executor uuid)
 RETURNS bigint
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
      begin
        perform pg_advisory_xact_lock(hashtextextended(executor::text, 8));
        return (
          select count(*) from tasks t
          where t.addressed_id = executor and t.status = 'dispatched' and t.deadline_before_delivery is not null);
      end $function$;
