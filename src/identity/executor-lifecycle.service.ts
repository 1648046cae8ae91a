import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, Repository } from 'typeorm';
import { NodeEvents } from '../bus/node-events.js';
import { Database } from '../db/database.js';
import type { MemberCaller, PlatformCaller } from '../doors/caller.js';
import { requiredText, type VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { isUuid } from '../kernel/names.js';
import { accountPage } from './account-page.js';
import { recordAudit } from './audit.js';
import { BusAccess } from './bus-access.js';
import { fenceCredentials } from './credential.sql.js';
import { executorJson } from './executor-json.js';
import {
  type OwnerId,
  readManaged,
  resumeExecutor,
  revokeExecutor,
  shutDownExecutor,
} from './executor-lifecycle.sql.js';
import { Executor } from './executor.entity.js';
import { lockAccount } from './locks.sql.js';
import { Presence } from './presence.js';
import { freeAssignments } from './registration.sql.js';
import { RevocationHooks } from './revocation-hooks.js';

type Manager = PlatformCaller | MemberCaller;

/** Every epoch there may be. */
const ALL_EPOCHS = 2_147_483_647;

/**
 * Lists, revokes, shuts down and resumes executors: an administrator all of the account, a human the private runners they
 * manage. Invariant: a revoked executor has no live credential, no assignment and no open task.
 */
@Injectable()
export class ExecutorLifecycleService {
  constructor(
    @InjectRepository(Executor) private readonly executors: Repository<Executor>,
    private readonly database: Database,
    private readonly hooks: RevocationHooks,
    private readonly bus: BusAccess,
    private readonly presence: Presence,
    private readonly events: NodeEvents,
  ) {}

  async list(caller: Manager, input: VerbInput): Promise<object> {
    const managerId = ownerOf(caller);
    const own = { managerId, kind: 'runner', assignmentScope: 'user_private' } as FindOptionsWhere<Executor>;
    const where = managerId === null ? {} : own;
    const { rows, pagination } = await accountPage(this.executors, caller.accountId, input, { where });
    return { executors: rows.map((executor) => executorJson(executor, this.presence)), pagination };
  }

  /** Revokes for ever, and settles its open tasks in the same transaction. Revoking again answers it unchanged. */
  async revoke(caller: Manager, input: VerbInput): Promise<object> {
    const { accountId, memberId: actorId } = caller;
    const [executorId, owner] = [executorIdOf(input), ownerOf(caller)];
    const { executor, fenced, after } = await this.database.transaction(async (sql) => {
      await sql.row(lockAccount, accountId);
      const known = await sql.row(readManaged, accountId, executorId, owner);
      if (!known) throw refuse('not_found');
      const revoked = await sql.row(revokeExecutor, accountId, executorId);
      if (!revoked) return { executor: known, fenced: [], after: undefined };
      const credentials = await sql.rows(fenceCredentials, executorId, ALL_EPOCHS);
      if (credentials.length > 0) await this.bus.revokeWith(sql, accountId);
      await sql.rows(freeAssignments, executorId);
      const tell = await this.hooks.run(sql, executorId);
      await recordAudit(sql, { accountId, actorId, action: 'executor.revoked', subjectId: executorId });
      return { executor: revoked, fenced: credentials, after: tell };
    });
    for (const { id } of fenced) this.events.publish('credential', { id });
    await this.events.announce('executor', { id: executorId });
    await Promise.all([after?.(), this.bus.afterRevocation(accountId)]);
    return { executor: executorJson(executor, this.presence) };
  }

  /** Closes admission of new work at once; what is claimed may still commit. Throws `executor_revoked`. */
  shutDown(caller: Manager, input: VerbInput): Promise<object> {
    return this.move(caller, input, shutDownExecutor, 'executor.shut_down');
  }

  /** Opens admission again. Throws `executor_revoked`. */
  resume(caller: Manager, input: VerbInput): Promise<object> {
    return this.move(caller, input, resumeExecutor, 'executor.resumed');
  }

  private async move(
    caller: Manager,
    input: VerbInput,
    transition: typeof shutDownExecutor,
    action: string,
  ): Promise<object> {
    const { accountId, memberId: actorId } = caller;
    const [executorId, owner] = [executorIdOf(input), ownerOf(caller)];
    const executor = await this.database.transaction(async (sql) => {
      const moved = await sql.row(transition, accountId, executorId, owner);
      if (!moved) {
        const known = await sql.row(readManaged, accountId, executorId, owner);
        throw refuse(known ? 'executor_revoked' : 'not_found');
      }
      await recordAudit(sql, { accountId, actorId, action, subjectId: executorId });
      return moved;
    });
    await this.events.announce('executor', { id: executorId });
    return { executor: executorJson(executor, this.presence) };
  }
}

/** Throws `person_required` for an agent, which manages no executors. */
function ownerOf(caller: Manager): OwnerId {
  if (caller.plane === 'platform') return null;
  if (caller.kind !== 'human') throw refuse('person_required');
  return caller.memberId;
}

function executorIdOf(input: VerbInput): string {
  const id = requiredText(input, 'public_id');
  if (!isUuid(id)) throw refuse('not_found');
  return id;
}
