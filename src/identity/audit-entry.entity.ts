import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AccountId } from '../db/account-id.js';

/** One thing that somebody did: appended with the change itself, never altered (chapter 1). */
@Entity('audit_entries')
export class AuditEntry {
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid', name: 'account_id' })
  accountId: AccountId;

  @Column({ type: 'timestamptz' })
  at: Date;

  /** Null where the server itself did it. */
  @Column({ type: 'uuid', name: 'actor_id', nullable: true })
  actorId: string | null;

  @Column({ type: 'text' })
  action: string;

  @Column({ type: 'uuid', name: 'subject_id', nullable: true })
  subjectId: string | null;

  @Column({ type: 'json', nullable: true })
  detail: unknown;
}
