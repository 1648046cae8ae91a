/** An executor's columns as `ExecutorFacts`, for statements that answer one. */
export const EXECUTOR_COLUMNS = `
  id, kind, display_name as "displayName", status, assignment_scope as "assignmentScope",
  credential_epoch as "credentialEpoch", modules, machine, service_ids as "serviceIds",
  shutdown_requested_at as "shutdownRequestedAt", last_seen_at as "lastSeenAt", connected_at as "connectedAt"`;
