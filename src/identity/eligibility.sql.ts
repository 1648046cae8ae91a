/**
 * Eligible for M (chapter 1), the one place that decides it: active, credential-ready, not shutting down, and its scope
 * admits M. SQL text for a row `e` of executors and a row `m` of members; discovery, assembly, acceptance, delivery and
 * claim all put it into their own statement, so it can't be forgotten between check and use. Presence has no part in it.
 */
export const eligible = (e: string, m: string): string => `(${isOpen(e)} and ${admits(e, m)})`;

/**
 * Active, credential-ready and not shutting down. The live credential is looked up by the executor's key, as a scalar: an
 * `exists` may be planned as one scan of all credentials.
 */
const isOpen = (e: string): string => `(
  ${e}.status = 'active' and ${e}.shutdown_requested_at is null and coalesce((
    select true from credentials ready
    where ready.executor_id = ${e}.id and ready.credential_epoch = ${e}.credential_epoch
      and ready.revoked_at is null and (ready.expires_at is null or ready.expires_at > now())
    limit 1), false))`;

/**
 * The assignment scope: `user_private` admits the manager and the agents that human stewards, `account_wide` every
 * member of the account; an agent application serves its own agent. Never null, though a human has no steward: a rule that
 * asks for `not eligible` must not be passed over.
 */
export const admits = (e: string, m: string): string => `(
  ${e}.account_id = ${m}.account_id and case
    when ${e}.kind = 'agent_application' then ${e}.agent_id = ${m}.id
    when ${e}.assignment_scope = 'account_wide' then true
    else coalesce(${e}.manager_id in (${m}.id, ${m}.steward_id), false) end)`;
