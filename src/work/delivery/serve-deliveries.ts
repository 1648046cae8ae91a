import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { ToolRequests } from '../../bus/tool-requests.js';
import type { AccountId } from '../../db/account-id.js';
import { ExecutorDirectory } from '../../identity/executor-directory.js';
import { Deliveries, type DeliveryClaim, type NewCall } from '../../routing/deliveries.js';
import type { TaskRow } from '../../routing/task-row.js';
import { DeliveredCalls } from './delivered-calls.service.js';
import { newClaim } from './delivery-claim.js';
import { Redelivery } from './redelivery.service.js';

/** What acceptance and dispatch ask of deliveries (chapter 8, Delivery). */
@Injectable()
export class ServeDeliveries extends Deliveries implements BeforeApplicationShutdown {
  private isStopping = false;

  constructor(
    private readonly executors: ExecutorDirectory,
    private readonly requests: ToolRequests,
    private readonly delivered: DeliveredCalls,
    private readonly redelivery: Redelivery,
  ) {
    super();
  }

  override async claimFor({ accountId, executorId, inputText }: NewCall): Promise<DeliveryClaim | undefined> {
    if (this.isStopping || this.redelivery.isWaitedFor(executorId)) return undefined;
    if (!this.requests.isUp(accountId)) return undefined;
    if (Buffer.byteLength(inputText) > this.requests.mostBytes(accountId)) return undefined;
    const executor = await this.executors.get(executorId);
    return executor && { ...newClaim(), epoch: executor.credentialEpoch };
  }

  override deliver(row: TaskRow, claim: DeliveryClaim): void {
    this.delivered.send(row, claim);
  }

  override wake(accountId: AccountId, executorId: string): void {
    this.redelivery.wake(accountId, executorId);
  }

  /** A node that stops claims for nobody: it would not hear the reply. */
  beforeApplicationShutdown(): void {
    this.isStopping = true;
  }
}
