import { Injectable } from '@nestjs/common';
import { Database } from '../db/database.js';
import type { PlatformCaller } from '../doors/caller.js';
import type { VerbInput } from '../doors/input.js';
import { pageRequest, paginationOf } from '../doors/page.js';
import { isMachineName } from '../kernel/names.js';
import { readAssignmentPage, readMachinePage } from './records.sql.js';

/** What should exist, as the seat `controller` answers it (chapter 8): records, whoever answers on the bus. Reads only. */
@Injectable()
export class Records {
  constructor(private readonly database: Database) {}

  /** `{machines, pagination}`. */
  async machines({ accountId }: PlatformCaller, input: VerbInput): Promise<object> {
    const { limit, after = '' } = pageRequest(input, isMachineName);
    const rows = await this.database.rows(readMachinePage, accountId, after, limit + 1);
    const machines = rows.slice(0, limit);
    return { machines, pagination: paginationOf(machines.at(-1)?.machine, rows.length > limit) };
  }

  /** `{assignments, pagination}`. */
  async assignments({ accountId }: PlatformCaller, input: VerbInput): Promise<object> {
    const { limit, after = '/' } = pageRequest(input, isPair);
    const [machine = '', module = ''] = after.split('/');
    const rows = await this.database.rows(readAssignmentPage, accountId, machine, module, limit + 1);
    const assignments = rows.slice(0, limit);
    const last = assignments.at(-1);
    return {
      assignments,
      pagination: paginationOf(last && `${last.machine}/${last.module}`, rows.length > limit),
    };
  }
}

/** `<machine>/<module>`, as a cursor holds it. */
const isPair = (key: unknown): key is string =>
  typeof key === 'string' && key.split('/').length === 2 && key.split('/').every(isMachineName);
