import { Inject, Injectable } from '@nestjs/common';
import { ENV, type Env } from '../config/env.js';
import type { AccountId } from '../db/account-id.js';
import { BusConnections } from './bus-connections.js';
import { Subjects } from './subjects.js';

/** What is pushed to an executor (chapter 6). It only brings a read forward: a lost push loses nothing. */
export type WorkPush =
  | {
      readonly event: 'work_available';
      run_public_id: string;
      task_key: string;
      kind: string;
      tool_name: string;
    }
  | { readonly event: 'work_canceled'; run_public_id: string; task_key: string };

/** Pushes work to executors over the bus, each at its current epoch. */
@Injectable()
export class ExecutorPush {
  private readonly subjects: Subjects;

  constructor(
    @Inject(ENV) env: Env,
    private readonly connections: BusConnections,
  ) {
    this.subjects = new Subjects(env.NEXUS_BUS_PREFIX);
  }

  push(accountId: AccountId, executorId: string, epoch: number, work: WorkPush): void {
    this.connections.of(accountId).publish(this.subjects.work(executorId, epoch), JSON.stringify(work));
  }
}
