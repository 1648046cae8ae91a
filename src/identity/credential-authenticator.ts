import { Injectable } from '@nestjs/common';
import { NodeEvents } from '../bus/node-events.js';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import { Authenticator, type Claim } from '../doors/authenticator.js';
import type { Caller, ExecutorCaller, MemberCaller } from '../doors/caller.js';
import type { Plane } from '../doors/verb.js';
import { isUuid } from '../kernel/names.js';
import { ContactLog } from './contact-log.js';
import { eligible } from './eligibility.sql.js';
import { ExecutorDirectory } from './executor-directory.js';
import { Presence } from './presence.js';
import { parseToken, sameSecret } from './token.js';
import { VersionedCache } from './versioned-cache.js';

interface CredentialRow {
  readonly plane: Plane;
  readonly accountId: AccountId;
  readonly secretSha256: Buffer;
  readonly expiresAt: Date | null;
  readonly memberId: string | null;
  readonly memberKind: 'human' | 'agent' | null;
  readonly role: 'member' | 'admin' | null;
  readonly stewardId: string | null;
  readonly executorId: string | null;
  readonly epoch: number | null;
}

const readCredential = statement<[id: string], CredentialRow>(
  'credential_read',
  `select c.plane, c.account_id as "accountId", c.secret_sha256 as "secretSha256", c.expires_at as "expiresAt",
          m.id as "memberId", m.kind as "memberKind", m.role, m.steward_id as "stewardId",
          c.executor_id as "executorId", c.credential_epoch as epoch
   from credentials c left join members m on m.id = c.member_id
   where c.id = $1 and c.revoked_at is null and (c.expires_at is null or c.expires_at > now())`,
);

const readEligible = statement<
  [executorId: string, memberId: string, accountId: AccountId],
  { eligible: boolean }
>(
  'executor_is_eligible',
  `select ${eligible('e', 'm')} as eligible from executors e, members m
   where e.id = $1 and m.id = $2 and m.account_id = $3`,
);

const readLiveEpoch = statement<[executorId: string], { credentialId: string; epoch: number }>(
  'credential_of_live_epoch',
  `select c.id as "credentialId", c.credential_epoch as epoch
   from executors e join credentials c on c.executor_id = e.id and c.credential_epoch = e.credential_epoch
   where e.id = $1 and c.revoked_at is null order by c.id limit 1`,
);

/**
 * Proves tokens: one cached row for each credential, dropped by the event that revokes it. Whatever a caller then writes
 * checks epoch and credential again inside its statement.
 */
@Injectable()
export class CredentialAuthenticator extends Authenticator {
  private readonly cache: VersionedCache<CredentialRow>;
  private readonly epochs: VersionedCache<{ credentialId: string; epoch: number }>;

  constructor(
    private readonly database: Database,
    private readonly executors: ExecutorDirectory,
    private readonly presence: Presence,
    private readonly contacts: ContactLog,
    events: NodeEvents,
  ) {
    super();
    this.cache = new VersionedCache(events, 50_000, ['credential']);
    this.epochs = new VersionedCache(events, 20_000, ['executor']);
  }

  async authenticate(token: string): Promise<Caller | undefined> {
    const presented = parseToken(token);
    if (!presented) return undefined;
    const row = await this.liveRow(presented.id);
    if (row?.plane !== presented.plane || !sameSecret(row.secretSha256, presented.secretSha256))
      return undefined;
    this.contacts.used(presented.id);
    return this.callerOf(presented.id, row);
  }

  async identify({ id, epoch }: Claim, accountId: AccountId): Promise<Caller | undefined> {
    if (!isUuid(id)) return undefined;
    const credentialId = epoch === undefined ? id : await this.credentialOf(id, epoch);
    const row = credentialId === undefined ? undefined : await this.liveRow(credentialId);
    if (credentialId === undefined || row?.accountId !== accountId) return undefined;
    this.contacts.used(credentialId);
    return this.callerOf(credentialId, row);
  }

  async isLive({ credentialId }: Caller): Promise<boolean> {
    return (await this.liveRow(credentialId)) !== undefined;
  }

  async isCurrent(caller: ExecutorCaller): Promise<boolean> {
    const executor = await this.executors.get(caller.executorId);
    if (executor?.status !== 'active' || executor.credentialEpoch !== caller.epoch) return false;
    this.presence.heard(caller.executorId);
    return true;
  }

  async isEligible(executorId: string, caller: MemberCaller): Promise<boolean> {
    const row = await this.database.row(readEligible, executorId, caller.memberId, caller.accountId);
    return row?.eligible ?? false;
  }

  private async credentialOf(executorId: string, epoch: number): Promise<string | undefined> {
    const live = await this.epochs.get(executorId, () => this.database.row(readLiveEpoch, executorId));
    return live?.epoch === epoch ? live.credentialId : undefined;
  }

  private async liveRow(credentialId: string): Promise<CredentialRow | undefined> {
    const row = await this.cache.get(credentialId, () => this.database.row(readCredential, credentialId));
    return row?.expiresAt && row.expiresAt.getTime() <= Date.now() ? undefined : row;
  }

  private async callerOf(credentialId: string, row: CredentialRow): Promise<Caller | undefined> {
    const { plane, accountId, memberId, executorId } = row;
    if (plane === 'executor_transport') {
      const executor = await this.executors.get(executorId ?? '');
      if (!executor || row.epoch === null) return undefined;
      const { id, kind, agentId, modules } = executor;
      return {
        plane,
        accountId,
        credentialId,
        principalId: id,
        executorId: id,
        epoch: row.epoch,
        kind,
        agentId,
        modules,
      };
    }
    if (memberId === null || row.memberKind === null) return undefined;
    if (plane === 'platform') {
      return row.role === 'admin'
        ? { plane, accountId, credentialId, principalId: memberId, memberId }
        : undefined;
    }
    const { memberKind: kind, role, stewardId } = row;
    return { plane, accountId, credentialId, principalId: memberId, memberId, kind, role, stewardId };
  }
}
