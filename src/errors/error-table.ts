/**
 * Every refusal of Nexus, once: its code, its HTTP status and its meaning (chapter 9). Both doors, the
 * Swagger document and the tests read this table; a code that is not here does not compile.
 */
interface ErrorRow {
  readonly status: number;
  readonly meaning: string;
  /** The status when a claim is refused with this code (chapter 5: a claim answers 409). */
  readonly claimStatus?: number;
}

const table = {
  // 400: the request itself cannot be read
  invalid_json: { status: 400, meaning: 'The body is not JSON that every reader would read alike.' },
  parameter_invalid: { status: 400, meaning: 'A query, path or header parameter has a wrong value.' },
  parameter_missing: { status: 400, meaning: 'A required field, parameter or header is absent.' },
  // 401, 403, 404: who is asking
  unauthorized: { status: 401, meaning: 'No live credential of the plane this verb belongs to.' },
  admin_required: { status: 403, meaning: 'Only an administrator of the account may do this.' },
  approval_floor: { status: 403, meaning: 'The run would be looser than the floor set for the agent.' },
  not_agent: { status: 403, meaning: 'Only an agent may do this.' },
  person_required: { status: 403, meaning: 'Only a human may do this.' },
  not_found: { status: 404, meaning: 'There is no such thing, or the caller may not see it.' },
  // 409: the state forbids it
  already_claimed: { status: 409, meaning: 'The task was claimed in this generation.' },
  already_terminal: { status: 409, meaning: 'The task is final.' },
  assignment_taken: { status: 409, meaning: 'Another executor is assigned this module on this machine.' },
  executor_in_use: { status: 409, meaning: 'Another process speaks for this executor just now.' },
  executor_revoked: { status: 409, meaning: 'The executor was revoked.' },
  extension_too_long: { status: 409, meaning: 'The extension exceeds the bound of this task.' },
  idempotency_conflict: { status: 409, meaning: 'The Idempotency-Key was used for another request.' },
  key_taken: { status: 409, meaning: 'The run has a task with this key.' },
  kind_mismatch: { status: 409, meaning: 'The registration exists with another kind.' },
  module_taken: { status: 409, meaning: 'The account has a module of this name.' },
  not_addressed_here: { status: 409, meaning: 'The task is not addressed to this executor.' },
  not_awaiting_approval: { status: 409, meaning: 'The task does not rest for a decision.' },
  not_claimable_kind: { status: 409, meaning: 'Only tool calls can be claimed.' },
  not_claimant: { status: 409, meaning: 'The claim token is not the one that holds this task.' },
  not_eligible: { status: 409, meaning: 'The executor may not serve this principal just now.' },
  not_extendable: { status: 409, meaning: 'The task is not claimed, is settled or is past its deadline.' },
  not_retryable: { status: 409, meaning: 'Only a failed, timed out or uncertain task is retried.' },
  run_stopped: { status: 409, meaning: 'The run was stopped.' },
  stale_claim: { status: 409, meaning: 'The claim token belongs to an earlier generation or epoch.' },
  task_not_claimable: { status: 409, meaning: 'The task is not waiting, or its deadline has passed.' },
  task_not_running: { status: 409, meaning: 'The task is held, or was never claimed in this generation.' },
  // 410, 413: size and age
  execution_details_pruned: { status: 410, meaning: 'Retention has pruned the detail of this run.' },
  content_too_large: { status: 413, meaning: 'The body or the result is larger than its bound.' },
  // 422: well-formed, and not acceptable
  ambiguous_address: {
    status: 422,
    meaning: 'The address names more than one instance; details lists them.',
  },
  duplicate_tool_name: { status: 422, meaning: 'Two callables would have the same name.' },
  frame_too_large: { status: 422, meaning: 'A progress frame is at most 64 KiB.' },
  invalid_announcement: { status: 422, meaning: 'The announcement breaks its grammar.' },
  invalid_content: { status: 422, meaning: 'The content is neither a string nor a list of content blocks.' },
  invalid_timeout_ms: {
    status: 422,
    meaning: 'A timeout is an integer number of milliseconds in its range.',
  },
  invalid_title: { status: 422, meaning: 'A title is a string of at most 256 characters.' },
  invalid_tool_route: { status: 422, meaning: 'The route is malformed, or names a tool the kernel keeps.' },
  metadata_too_large: { status: 422, meaning: 'Metadata is an object of at most 64 KiB.' },
  reserved_namespace: { status: 422, meaning: 'The name belongs to the kernel.' },
  result_too_large: { status: 422, meaning: 'A result is at most 768 KiB.' },
  result_unstorable: {
    status: 422,
    meaning: 'The result holds a NUL or a lone surrogate; the task is closed.',
  },
  route_mismatch: { status: 422, meaning: 'A continuation may narrow its parent, never add or retarget.' },
  runner_not_declared: { status: 422, meaning: 'The selected runner is not among the candidates.' },
  runner_not_eligible: { status: 422, meaning: 'The runner is unknown or may not serve this principal.' },
  runner_target_required: { status: 422, meaning: 'The route names no runner and there is no default.' },
  too_many_content_blocks: { status: 422, meaning: 'A result has at most 64 content blocks.' },
  tool_not_declared: { status: 422, meaning: 'The callable is not in the frozen declaration of the run.' },
  tool_not_served: { status: 422, claimStatus: 409, meaning: 'Nobody addressed serves a tool of this name.' },
  unsupported_content_kind: { status: 422, meaning: 'A content block is of an unknown type.' },
  validation_failed: { status: 422, meaning: 'A field breaks its grammar or bound.' },
  // 429, 5xx: the server's side
  rate_limited: { status: 429, meaning: 'Too many requests; Retry-After says when to come back.' },
  internal_error: { status: 500, meaning: 'A fault of the server; the message carries the request id.' },
  unavailable: { status: 503, meaning: 'The database or the bus is out of reach; try again soon.' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof table;

export const ERROR_TABLE: Readonly<Record<ErrorCode, ErrorRow>> = table;

/** Why a settled task is not `completed`, or was never run: the closed keys of `task.error.key` (chapters 5, 6). */
export type TaskErrorKey =
  | 'approval_denied'
  | 'approval_expired'
  | 'executor_revoked'
  | 'result_unstorable'
  | 'tool_failed'
  | 'tool_not_served'
  | 'tool_timeout'
  | 'tool_uncertain';
