import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AccountId } from '../db/account-id.js';

/** A human or an agent. The profile of an agent (`configuration`) is read where it is used, never listed. */
@Entity('members')
export class Member {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid', name: 'account_id' })
  accountId: AccountId;

  @Column({ type: 'text' })
  kind: 'human' | 'agent';

  @Column({ type: 'text', name: 'display_name' })
  displayName: string;

  /** A human's; an agent has none. */
  @Column({ type: 'text', nullable: true })
  role: 'member' | 'admin' | null;

  /** An agent's one human; a human has none. */
  @Column({ type: 'uuid', name: 'steward_id', nullable: true })
  stewardId: string | null;

  @Column({ type: 'text', name: 'approval_floor', nullable: true })
  approvalFloor: 'ask' | 'rules' | 'bypass' | null;

  @Column({ type: 'json', name: 'approval_rules', nullable: true })
  approvalRules: unknown;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;
}
