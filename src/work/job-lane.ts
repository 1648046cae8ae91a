import type { KeyedDatabase } from '../db/keyed-database.js';
import { Lane } from '../db/lane.js';
import type { Statement } from '../db/statement.js';
import { jobsJson, nameOf, type TaskClaim } from './task-claim.js';

/** A lane over a statement that answers the rows that acted, by ordinal: undefined for a job that no row answers. */
export function jobLane<Job extends TaskClaim, Row extends { readonly ordinal: number }>(
  database: KeyedDatabase,
  statement: Statement<[jobs: string], Row>,
  bytesOf: (job: Job) => number = () => 0,
): Lane<Job, Row | undefined> {
  return new Lane<Job, Row | undefined>({
    name: statement.name,
    keyOf: nameOf,
    bytesOf,
    flush: async (jobs) => {
      const outcomes = new Array<Row | undefined>(jobs.length).fill(undefined);
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
