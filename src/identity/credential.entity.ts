import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AccountId } from '../db/account-id.js';
import type { Plane } from '../doors/verb.js';

/** A credential of one plane: of a member, or of an executor at one epoch (chapter 1). */
@Entity('credentials')
export class Credential {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid', name: 'account_id' })
  accountId: AccountId;

  @Column({ type: 'text' })
  plane: Plane;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'uuid', name: 'member_id', nullable: true })
  memberId: string | null;

  @Column({ type: 'uuid', name: 'executor_id', nullable: true })
  executorId: string | null;

  @Column({ type: 'integer', name: 'credential_epoch', nullable: true })
  credentialEpoch: number | null;

  /** Compared by the authenticator, never read here. */
  @Column({ type: 'bytea', name: 'secret_sha256', select: false })
  secretSha256: Buffer;

  /** The public key of the bus user that was issued beside the secret. */
  @Column({ type: 'text', name: 'bus_user_key', nullable: true, select: false })
  busUserKey: string | null;

  @Column({ type: 'timestamptz', name: 'expires_at', nullable: true })
  expiresAt: Date | null;

  @Column({ type: 'timestamptz', name: 'revoked_at', nullable: true })
  revokedAt: Date | null;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;

  @Column({ type: 'timestamptz', name: 'last_used_at', nullable: true })
  lastUsedAt: Date | null;
}
