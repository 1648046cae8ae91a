import { Inject, Injectable } from '@nestjs/common';
import type { NatsConnection } from 'nats';
import pLimit from 'p-limit';
import { AnnouncementDirectory } from '../announcement/announcement-directory.js';
import { BusConnections } from '../bus/bus-connections.js';
import { Subjects } from '../bus/subjects.js';
import { ENV, type Env } from '../config/env.js';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import { refuseUntil } from '../errors/refusal.js';
import type { Assignment, Fleet } from './fleet.js';
import { type AssignmentRow, readAssignments, readForeignIds } from './fleet-records.sql.js';
import { askDirectly, gather } from './gather.js';
import type { InfoAnswer } from './info-answer.js';
import { type DirectAnswers, type Instance, instancesToAsk, keyOf, prove } from './proof.js';

/** Directed asks under way at a time (chapter 8). */
const DIRECTED_AT_A_TIME = 32;
/** Whoever was not asked within this long counts as not answering: many that hang must not hang the asker. */
const DIRECTED_FOR_MS = 8_000;
/** How long an account's connection may take to be made. */
const REACH_MS = 2_000;

/**
 * What answers on an account's bus, beside what should (chapter 8). Invariant: it only informs, and never decides where a
 * call goes. Nothing is kept from one gather to the next; askers of one account share the gather that is under way.
 */
@Injectable()
export class Fleets {
  private readonly subjects: Subjects;
  private readonly isManaged: boolean;
  private readonly underWay = new Map<AccountId, Promise<Fleet>>();

  constructor(
    @Inject(ENV) env: Env,
    private readonly connections: BusConnections,
    private readonly database: Database,
    private readonly announcements: AnnouncementDirectory,
  ) {
    this.subjects = new Subjects(env.NEXUS_BUS_PREFIX);
    this.isManaged = env.NEXUS_BUS_AUTH === 'managed';
  }

  /** Asks the account's bus. Throws `unavailable` where it is out of reach. */
  ask(accountId: AccountId): Promise<Fleet> {
    const known = this.underWay.get(accountId);
    if (known) return known;
    const asked = this.gatherAll(accountId).finally(() => this.underWay.delete(accountId));
    this.underWay.set(accountId, asked);
    return asked;
  }

  private async gatherAll(accountId: AccountId): Promise<Fleet> {
    const connection = await this.connectionOf(accountId);
    const askedAt = new Date();
    const started = performance.now();
    const { answers, malformed } = await gather(connection);
    // read after the gather: what was announced meanwhile is not held against whoever announced it
    const assignments = await this.assignmentsOf(accountId);
    const direct = await askAll(connection, instancesToAsk(assignments, answers));
    const own = await this.ownAnswers(accountId, assignments, answers);
    return {
      askedAt,
      gatheredMs: Math.round(performance.now() - started),
      ...prove(assignments, own, direct, this.subjects.prefix),
      malformed,
      assignments,
    };
  }

  private async connectionOf(accountId: AccountId): Promise<NatsConnection> {
    const connection = this.connections.of(accountId);
    if (!connection.isUp) await this.connections.reach(accountId, REACH_MS);
    if (!connection.current || !connection.isUp) throw refuseUntil('unavailable', 1);
    return connection.current;
  }

  private async assignmentsOf(accountId: AccountId): Promise<Assignment[]> {
    const rows = await this.database.rows(readAssignments, accountId);
    return Promise.all(
      rows.map(async (row): Promise<Assignment> => {
        const { tool, work } = this.subjects.forExecutor(row.executor_id, row.epoch);
        return {
          module: row.module,
          machine: row.machine,
          executorId: row.executor_id,
          kind: row.kind,
          serviceIds: row.service_ids,
          lastSeenAt: row.last_seen_at,
          declaresTools: row.declares_tools,
          interchangeable: row.interchangeable,
          boundId: row.instance_id,
          subjects: { tool, work },
          serves: row.delivery === 'serve',
          toolNames: new Set(await this.toolNamesOf(row)),
        };
      }),
    );
  }

  /** What an executor announced in the module of the row. */
  private async toolNamesOf(row: AssignmentRow): Promise<readonly string[]> {
    if (row.tool_names === null || !row.is_one_of_several) return row.tool_names ?? [];
    const announcement = await this.announcements.get(row.executor_id);
    return [...(announcement?.tools.values() ?? [])].flatMap(({ name, module = row.first_module }) =>
      module === row.module ? [name] : [],
    );
  }

  /** A bus that Nexus does not manage carries all accounts: of another one's executors not even a lie is shown. */
  private async ownAnswers(
    accountId: AccountId,
    assignments: readonly Assignment[],
    answers: readonly InfoAnswer[],
  ): Promise<readonly InfoAnswer[]> {
    if (this.isManaged) return answers;
    const known = new Set(assignments.flatMap(({ executorId, boundId }) => [executorId, boundId]));
    const strangers = answers.map(({ id }) => id).filter((id) => !known.has(id));
    if (strangers.length === 0) return answers;
    const rows = await this.database.rows(readForeignIds, accountId, strangers);
    const foreign = new Set(rows.map(({ id }) => id));
    return answers.filter(({ id }) => !foreign.has(id));
  }
}

async function askAll(connection: NatsConnection, instances: readonly Instance[]): Promise<DirectAnswers> {
  const limit = pLimit(DIRECTED_AT_A_TIME);
  const ends = performance.now() + DIRECTED_FOR_MS;
  const found = new Map<string, InfoAnswer>();
  await Promise.all(
    instances.map((instance) =>
      limit(async () => {
        if (performance.now() > ends) return;
        const answer = await askDirectly(connection, instance.name, instance.id);
        if (answer) found.set(keyOf(instance), answer);
      }),
    ),
  );
  return found;
}
