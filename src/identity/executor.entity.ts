import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AccountId } from '../db/account-id.js';
import type { ExecutorKind } from './executor-directory.js';

/** A delivery address (chapter 1). What it announced is the announcement module's. */
@Entity('executors')
export class Executor {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid', name: 'account_id' })
  accountId: AccountId;

  @Column({ type: 'text' })
  kind: ExecutorKind;

  @Column({ type: 'text', name: 'display_name' })
  displayName: string;

  /** The human who answers for a runner or provider. */
  @Column({ type: 'uuid', name: 'manager_id', nullable: true })
  managerId: string | null;

  /** The agent whose own process an agent application is. */
  @Column({ type: 'uuid', name: 'agent_id', nullable: true })
  agentId: string | null;

  @Column({ type: 'text', name: 'registration_identifier', nullable: true })
  registrationIdentifier: string | null;

  @Column({ type: 'text', name: 'assignment_scope' })
  assignmentScope: 'user_private' | 'account_wide';

  @Column({ type: 'text', array: true })
  modules: string[];

  @Column({ type: 'text' })
  machine: string;

  @Column({ type: 'text', name: 'service_ids' })
  serviceIds: 'pinned' | 'any';

  @Column({ type: 'text' })
  status: 'active' | 'revoked';

  @Column({ type: 'integer', name: 'credential_epoch' })
  credentialEpoch: number;

  @Column({ type: 'timestamptz', name: 'shutdown_requested_at', nullable: true })
  shutdownRequestedAt: Date | null;

  @Column({ type: 'timestamptz', name: 'revoked_at', nullable: true })
  revokedAt: Date | null;

  @Column({ type: 'timestamptz', name: 'connected_at', nullable: true })
  connectedAt: Date | null;

  @Column({ type: 'timestamptz', name: 'last_seen_at', nullable: true })
  lastSeenAt: Date | null;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;
}
