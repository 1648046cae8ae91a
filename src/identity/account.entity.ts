import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AccountId } from '../db/account-id.js';

/** The tenant. Nothing crosses it (chapter 1). */
@Entity('accounts')
export class Account {
  @PrimaryColumn({ type: 'uuid' })
  id: AccountId;

  @Column({ type: 'text', name: 'display_name' })
  displayName: string;

  /** Null keeps the details of runs for ever (chapter 7). */
  @Column({ type: 'integer', name: 'execution_details_retention_days', nullable: true })
  executionDetailsRetentionDays: number | null;

  @Column({ type: 'timestamptz', name: 'created_at' })
  createdAt: Date;
}
