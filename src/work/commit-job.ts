import { memberTexts } from '../kernel/json/scan.js';
import { type ResultFault, resultFault } from '../kernel/result-content.js';
import type { CommitJob } from './commit.sql.js';
import type { ResultBody } from './delivery/reply-result.js';
import type { TaskClaim } from './task-claim.js';

/** What a commit brings, read: `fault` is what is wrong with it, and leaves the park standing unless the job settles it. */
export interface ReadCommit {
  readonly job: CommitJob;
  readonly fault: ResultFault | undefined;
}

type Result = Omit<CommitJob, keyof TaskClaim>;

/**
 * The job of a commit's body (chapter 6, Commit). An unstorable result is itself a result, it closes the task; any other
 * fault makes a job that acts only where the deadline has won, which drops all but the checkpoint.
 */
export function readCommit(claim: TaskClaim, { object, text }: ResultBody): ReadCommit {
  const raw = memberTexts(text);
  const fault = resultFault(object, raw);
  const checkpoint = checkpointText(object, raw);
  if (!fault) return { job: { ...claim, ...resultOf(object, raw), checkpoint }, fault };
  if (fault.code !== 'result_unstorable') {
    return { job: { ...claim, ...NOTHING, only_late: true, checkpoint }, fault };
  }
  const { code: error_key, message: error_detail } = fault;
  return { job: { ...claim, ...NOTHING, error_key, error_detail, checkpoint }, fault };
}

const NOTHING = {
  only_late: false,
  outcome: 'failed',
  error_key: null,
  error_detail: null,
  content: null,
  structured_content: null,
  is_error: null,
  title: null,
  metadata: null,
} as const satisfies Omit<Result, 'checkpoint'>;

function resultOf(
  body: Record<string, unknown>,
  raw: ReadonlyMap<string, string>,
): Omit<Result, 'checkpoint'> {
  const outcome = body['outcome'] === 'failed' ? 'failed' : 'completed';
  return {
    only_late: false,
    outcome,
    error_key: outcome === 'failed' ? 'tool_failed' : null,
    error_detail: null,
    content: raw.get('content') ?? null,
    structured_content: raw.get('structured_content') ?? null,
    is_error: (body['is_error'] as boolean | undefined) ?? (outcome === 'completed' ? false : null),
    title: (body['title'] as string | undefined) ?? null,
    metadata: raw.get('metadata') ?? null,
  };
}

/** `metadata.checkpoint` as it is written; null where it is absent, or where metadata itself can't be taken. */
function checkpointText(body: Record<string, unknown>, raw: ReadonlyMap<string, string>): string | null {
  const metadata = raw.get('metadata');
  if (metadata === undefined) return null;
  const alone = resultFault({ metadata: body['metadata'] }, new Map([['metadata', metadata]]));
  return alone ? null : (memberTexts(metadata).get('checkpoint') ?? null);
}
