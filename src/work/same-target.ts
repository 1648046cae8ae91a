import { Injectable } from '@nestjs/common';
import { AnnouncementDirectory, type AnnouncementRecord } from '../announcement/announcement-directory.js';
import { refuse } from '../errors/refusal.js';
import type { Sql } from '../db/statement.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { DeclarationStore } from '../routing/declaration-store.js';
import type { FrozenRun } from '../routing/frozen-run.js';
import type { DraftContext } from '../routing/task-draft.js';
import { kernelPlace, namedPlace, type Place, runnerPlace, type Serving } from '../routing/where-it-goes.js';
import type { AdjudicatedTask } from './same-target.sql.js';
import type { Found } from './verdict.js';

type Addressed = Pick<AdjudicatedTask, 'addressed_role' | 'tool_name'>;
type CallerKind = 'human' | 'agent';

/** How refusals name a task that was accepted. */
export const TASK_PATH = 'task';

/**
 * Looks at a task's target once more (chapter 6, Adjudication): the same one, never another. What it finds may be a moment
 * old: the statement that acts asks again who serves the target.
 */
@Injectable()
export class SameTarget {
  constructor(
    private readonly announcements: AnnouncementDirectory,
    private readonly declarations: DeclarationStore,
  ) {}

  /** The target as it is now; undefined while this node's memory is behind the database. Throws `person_required`. */
  async find(task: AdjudicatedTask, caller: CallerKind): Promise<Found | undefined> {
    if (task.executor_status === 'revoked') return 'executor_revoked';
    const announcements: AnnouncementRecord[] = [];
    for (const server of task.serving?.split(' ') ?? []) {
      const [id = '', version] = server.split('@');
      const announcement = await this.announcements.get(id);
      if (announcement?.version !== Number(version)) return undefined;
      announcements.push(announcement);
    }
    return placeAgain(task, announcements, caller) ?? 'tool_not_served';
  }

  /** What of the run decides about its calls. Throws `execution_details_pruned`. */
  async contextOf(sql: Sql, run: FrozenRun, author: DraftContext['author']): Promise<DraftContext> {
    const { accountId, declarationDigest: digest, defaultRunnerId, policy } = run;
    const stored = digest === null ? undefined : await this.declarations.get(accountId, digest, sql);
    if (!stored) throw refuse('execution_details_pruned');
    return { declaration: stored.frozen, defaultRunnerId, policy, author };
  }
}

/** The place of an accepted call, of what its target announces now; undefined where that has the name no more. */
function placeAgain(
  { addressed_role: role, tool_name: name }: Addressed,
  announcements: readonly AnnouncementRecord[],
  caller: CallerKind,
): Place | undefined {
  if (role === 'kernel') {
    const tool = KERNEL_TOOLS.find((known) => known.name === name);
    return tool && kernelPlace(tool);
  }
  const servers = announcements
    .filter(({ tools }) => tools.has(name))
    .map((announcement): Serving => ({
      executorId: announcement.executorId,
      announcement,
      eligible: true,
    }));
  const [first] = servers;
  if (!first) return undefined;
  const call = { path: TASK_PATH };
  if (role === 'runner') return runnerPlace(call, name, first, caller);
  const found =
    role === 'tool_provider'
      ? { application: undefined, providers: servers }
      : { application: first, providers: [] };
  return namedPlace(call, name, found, caller);
}
