import type { ErrorCode } from '../errors/error-table.js';

/** What accepting steps may refuse (chapter 5, Steps and Where it goes). */
export const acceptanceRefusals = [
  'parameter_missing',
  'parameter_invalid',
  'person_required',
  'not_found',
  'idempotency_conflict',
  'key_taken',
  'run_stopped',
  'execution_details_pruned',
  'ambiguous_address',
  'invalid_timeout_ms',
  'invalid_tool_route',
  'route_mismatch',
  'runner_not_eligible',
  'runner_target_required',
  'tool_not_declared',
  'tool_not_served',
  'validation_failed',
] as const satisfies readonly ErrorCode[];
