import type { KeyedDatabase } from '../db/keyed-database.js';
import { Lane } from '../db/lane.js';
import type { Statement } from '../db/statement.js';
import type { TaskRow } from '../routing/task-row.js';
import { jobsJson, nameOf, type TaskClaim } from './task-claim.js';

/** A lane over a statement that answers the tasks that it moved, by ordinal: undefined for a job that moved none. */
export function jobLane<Job extends TaskClaim>(
  database: KeyedDatabase,
  statement: Statement<[jobs: string], TaskRow & { readonly ordinal: number }>,
  bytesOf: (job: Job) => number = () => 0,
): Lane<Job, TaskRow | undefined> {
  return new Lane<Job, TaskRow | undefined>({
    name: statement.name,
    keyOf: nameOf,
    bytesOf,
    flush: async (jobs) => {
      const outcomes = new Array<TaskRow | undefined>(jobs.length).fill(undefined);
      for (const row of await database.rows(statement, jobsJson(jobs))) outcomes[row.ordinal] = row;
      return outcomes;
    },
  });
}

/** How often a transition is tried whose state changes between the statement that acts and the read that says why not. */
const TRIES = 5;

/** Runs `attempt` until it answers something. Throws when the state never holds still. */
export async function settledAttempt<Answer>(attempt: () => Promise<Answer | undefined>): Promise<Answer> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await attempt();
    if (answer !== undefined) return answer;
  }
  throw new Error('The state of a task changed faster than it could be read');
}
