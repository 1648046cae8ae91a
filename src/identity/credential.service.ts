import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { NodeEvents } from '../bus/node-events.js';
import { Database } from '../db/database.js';
import { Answer } from '../doors/answer.js';
import type { PlatformCaller } from '../doors/caller.js';
import { Idempotency } from '../doors/idempotency.js';
import { requiredText, type VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { isUuid } from '../kernel/names.js';
import { accountPage } from './account-page.js';
import { recordAudit } from './audit.js';
import { BusAccess } from './bus-access.js';
import { Credential } from './credential.entity.js';
import type { CredentialFields } from './credential.fields.js';
import { type CredentialRow, insertMemberCredential, revokeCredential } from './credential.sql.js';
import { createCredentialVerb } from './credential.verbs.js';
import { readMember } from './member.sql.js';
import { mintToken } from './token.js';

/**
 * Mints and revokes credentials. Invariant: a secret is answered once and stored nowhere; a revoked credential is fenced
 * on every node before its revocation is answered.
 */
@Injectable()
export class CredentialService {
  constructor(
    @InjectRepository(Credential) private readonly credentials: Repository<Credential>,
    private readonly database: Database,
    private readonly idempotency: Idempotency,
    private readonly bus: BusAccess,
    private readonly events: NodeEvents,
  ) {}

  /** Throws `not_found` for a member of no such id, `admin_required` for a platform credential of a non-administrator. */
  async create(caller: PlatformCaller, input: VerbInput, fields: CredentialFields): Promise<Answer> {
    const { accountId, memberId: actorId } = caller;
    const memberId = requiredText(input, 'public_id');
    if (!isUuid(memberId)) throw refuse('not_found');
    const plane = fields.plane ?? 'member';
    const answer = await this.idempotency.once(createCredentialVerb, caller, input, async (sql) => {
      const member = await sql.row(readMember, accountId, memberId);
      if (!member) throw refuse('not_found');
      if (plane === 'platform' && member.role !== 'admin') {
        throw refuse('admin_required', 'plane platform is only for a human who is an administrator');
      }
      const expiresAt = futureInstant(fields.expires_at);
      const { id, token: secret, secretSha256 } = mintToken(plane);
      const { name } = fields;
      const { bus, userKey } = await this.bus.issueToMember(sql, accountId, id, expiresAt);
      const row = await sql.row(
        insertMemberCredential,
        id,
        accountId,
        plane,
        name,
        memberId,
        secretSha256,
        expiresAt,
        userKey,
      );
      const detail = { plane, member_public_id: memberId };
      await recordAudit(sql, { accountId, actorId, action: 'credential.minted', subjectId: id, detail });
      return new Answer({ credential: row && credentialJson(row), secret, bus }, 201);
    });
    await this.bus.afterIssue(accountId);
    return answer;
  }

  /** Revokes at once, on REST and on the bus. Revoking again only tells every node again. */
  async revoke(caller: PlatformCaller, input: VerbInput): Promise<void> {
    const { accountId, memberId: actorId } = caller;
    const credentialId = requiredText(input, 'public_id');
    if (!isUuid(credentialId)) throw refuse('not_found');
    const { executorId } = await this.database.transaction(async (sql) => {
      const found = await sql.row(revokeCredential, accountId, credentialId);
      if (!found) throw refuse('not_found');
      const action = 'credential.revoked';
      if (found.revoked) {
        await this.bus.revokeWith(sql, accountId);
        await recordAudit(sql, { accountId, actorId, action, subjectId: credentialId });
      }
      return found;
    });
    if (executorId !== null) this.events.publish('executor', { id: executorId });
    await this.events.announce('credential', { id: credentialId });
    await this.bus.afterRevocation(accountId);
  }

  /** Those that were not revoked, of every plane. */
  async list({ accountId }: PlatformCaller, input: VerbInput): Promise<object> {
    const { rows, pagination } = await accountPage(this.credentials, accountId, input, {
      where: { revokedAt: IsNull() },
    });
    return { credentials: rows.map(credentialJson), pagination };
  }
}

function futureInstant(text: string | null | undefined): Date | null {
  if (text === undefined || text === null) return null;
  const instant = new Date(text);
  if (instant.getTime() <= Date.now()) throw refuse('validation_failed', 'expires_at must be in the future');
  return instant;
}

const credentialJson = (row: CredentialRow): object => ({
  public_id: row.id,
  plane: row.plane,
  name: row.name,
  expires_at: row.expiresAt,
  created_at: row.createdAt,
  last_used_at: row.lastUsedAt,
});
