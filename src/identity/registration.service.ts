import { Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import { newId } from '../db/ids.js';
import type { Sql } from '../db/statement.js';
import { Answer } from '../doors/answer.js';
import type { MemberCaller, PlatformCaller } from '../doors/caller.js';
import { Idempotency } from '../doors/idempotency.js';
import type { VerbInput } from '../doors/input.js';
import type { VerbDeclaration } from '../doors/verb.js';
import { refuse } from '../errors/refusal.js';
import { recordAudit } from './audit.js';
import { BusAccess } from './bus-access.js';
import { fenceCredentials, insertExecutorCredential } from './credential.sql.js';
import { type ExecutorFacts, executorJson } from './executor-json.js';
import { lockAccount } from './locks.sql.js';
import { machineSlug } from './machine-name.js';
import { readMember } from './member.sql.js';
import { Presence } from './presence.js';
import type { RegistrationRequest } from './registration-request.js';
import {
  assignModules,
  ensureModules,
  freeAssignments,
  freeMachineName,
  insertExecutor,
  readRegistered,
  rePairExecutor,
} from './registration.sql.js';
import { mintToken } from './token.js';

type Registrar = PlatformCaller | MemberCaller;

/** The module of an executor that names none (chapter 1). */
const DEFAULT_MODULE = 'tools';

/**
 * Registers executors, and re-pairs those whose key is taken. Invariant: a registration key has at most one live executor,
 * an executor one live epoch; every credential of an older one is fenced on all nodes before the new secret is answered.
 */
@Injectable()
export class RegistrationService {
  constructor(
    private readonly idempotency: Idempotency,
    private readonly bus: BusAccess,
    private readonly presence: Presence,
    private readonly events: NodeEvents,
  ) {}

  /**
   * 201, or 200 for a re-pair; a repeat by its key changes nothing. Throws `validation_failed` for a manager or agent that
   * the account has not and for an interchangeable module where no tool provider registers, `kind_mismatch`,
   * `assignment_taken`, and `admin_required` where a member's key is account-wide.
   */
  async register(
    verb: VerbDeclaration,
    caller: Registrar,
    input: VerbInput,
    request: RegistrationRequest,
  ): Promise<Answer> {
    const changed: { executorId?: string; fenced: string[] } = { fenced: [] };
    const answer = await this.idempotency.once(verb, caller, input, async (sql) => {
      await sql.row(lockAccount, caller.accountId);
      await this.refuseStrangers(sql, caller, request);
      const known = await sql.row(
        readRegistered,
        caller.accountId,
        request.managerId,
        request.registrationIdentifier,
        request.agentId,
      );
      const executor = known
        ? await this.rePair(sql, caller, request, known)
        : await this.registerAnew(sql, caller, request);
      const fenced = await sql.rows(fenceCredentials, executor.id, executor.credentialEpoch);
      if (fenced.length > 0) await this.bus.revokeWith(sql, caller.accountId);
      const { secret, bus } = await this.mint(sql, caller, executor);
      await this.audit(sql, caller, executor, known !== undefined);
      changed.executorId = executor.id;
      changed.fenced = fenced.map(({ id }) => id);
      const body = { executor: executorJson(executor, this.presence), secret, bus };
      return new Answer(body, known ? 200 : 201);
    });
    for (const id of changed.fenced) this.events.publish('credential', { id });
    if (changed.executorId !== undefined) await this.events.announce('executor', { id: changed.executorId });
    if (changed.fenced.length > 0) await this.bus.afterRevocation(caller.accountId);
    await this.bus.afterIssue(caller.accountId);
    return answer;
  }

  private async refuseStrangers(
    sql: Sql,
    { accountId }: Registrar,
    request: RegistrationRequest,
  ): Promise<void> {
    const { managerId, agentId } = request;
    if (managerId !== null && (await sql.row(readMember, accountId, managerId))?.kind !== 'human') {
      throw refuse('validation_failed', 'manager_public_id names no human of this account');
    }
    if (agentId !== null && (await sql.row(readMember, accountId, agentId))?.kind !== 'agent') {
      throw refuse('validation_failed', 'agent_public_id names no agent of this account');
    }
  }

  private async registerAnew(
    sql: Sql,
    { accountId }: Registrar,
    request: RegistrationRequest,
  ): Promise<ExecutorFacts> {
    const { kind, displayName, managerId, agentId, registrationIdentifier, assignmentScope } = request;
    const modules = request.modules ?? [DEFAULT_MODULE];
    const base = machineSlug(registrationIdentifier ?? displayName);
    const machine = request.machine ?? (await sql.row(freeMachineName, accountId, modules, base))?.machine;
    if (machine === undefined) throw refuse('assignment_taken');
    const executor = await sql.row(
      insertExecutor,
      newId(),
      accountId,
      kind,
      displayName,
      managerId,
      agentId,
      registrationIdentifier,
      assignmentScope,
      modules,
      machine,
      request.serviceIds ?? 'pinned',
    );
    if (!executor) throw new Error('An inserted executor was not answered');
    await this.assign(sql, accountId, executor);
    return executor;
  }

  private async rePair(
    sql: Sql,
    caller: Registrar,
    request: RegistrationRequest,
    known: ExecutorFacts,
  ): Promise<ExecutorFacts> {
    const { displayName, modules, machine, serviceIds } = request;
    if (known.kind !== request.kind) {
      throw refuse('kind_mismatch', `kind was ${known.kind} when this key was registered`);
    }
    if (caller.plane === 'member' && known.assignmentScope === 'account_wide') {
      throw refuse('admin_required', 'registration_identifier names an account_wide executor');
    }
    const executor = await sql.row(
      rePairExecutor,
      caller.accountId,
      known.id,
      displayName,
      modules,
      machine,
      serviceIds,
    );
    // the account's lock keeps it live
    if (!executor) throw new Error('A live executor was gone under the lock of its account');
    if (modules !== null || machine !== null) {
      await sql.rows(freeAssignments, known.id);
      await this.assign(sql, caller.accountId, executor);
    }
    return executor;
  }

  private async assign(
    sql: Sql,
    accountId: Registrar['accountId'],
    { id, kind, modules, machine }: ExecutorFacts,
  ): Promise<void> {
    const isProvider = kind === 'tool_provider';
    const refused = await sql.row(ensureModules, accountId, modules, isProvider, DEFAULT_MODULE);
    if (refused) {
      const path = `modules[${modules.indexOf(refused.module)}]`;
      throw refuse('validation_failed', `${path} names ${refused.module}, which only tool providers serve`);
    }
    const assigned = new Set(
      (await sql.rows(assignModules, accountId, modules, machine, id)).map(({ module }) => module),
    );
    const taken = modules.find((module) => !assigned.has(module));
    if (taken !== undefined) {
      throw refuse('assignment_taken', `machine ${machine} has another executor for module ${taken}`);
    }
  }

  private async mint(
    sql: Sql,
    { accountId }: Registrar,
    executor: ExecutorFacts,
  ): Promise<{ secret: string; bus: object }> {
    const { id, token: secret, secretSha256 } = mintToken('executor_transport');
    const { displayName, credentialEpoch, modules, serviceIds } = executor;
    const principal = { id: executor.id, epoch: credentialEpoch, modules, serviceIds };
    const { bus, userKey } = await this.bus.issueToExecutor(sql, accountId, principal);
    await sql.rows(
      insertExecutorCredential,
      id,
      accountId,
      displayName,
      executor.id,
      credentialEpoch,
      secretSha256,
      userKey,
    );
    return { secret, bus };
  }

  private async audit(sql: Sql, caller: Registrar, executor: ExecutorFacts, again: boolean): Promise<void> {
    const { accountId, memberId: actorId } = caller;
    const { id: subjectId, kind, credentialEpoch, assignmentScope, modules, machine } = executor;
    const action = again ? 're_paired' : 'registered';
    const detail = {
      kind,
      credential_epoch: credentialEpoch,
      assignment_scope: assignmentScope,
      modules,
      machine,
    };
    await recordAudit(sql, { accountId, actorId, action: `executor.${action}`, subjectId, detail });
  }
}
