import { Injectable } from '@nestjs/common';
import type { AccountId } from '../db/account-id.js';
import type { Sql } from '../db/statement.js';
import { refuse } from '../errors/refusal.js';
import { addressText, type MeshAddress } from '../kernel/mesh-address.js';
import { type Instance, instanceOf } from './addressed-instance.js';
import { type AddressedRow, isAssigned, readAddressed } from './addressed.sql.js';
import type { CallAuthor } from './call-author.js';
import type { FrozenRun } from './frozen-run.js';
import type { AddressStep, DirectStep } from './step.js';

/** More than these are not told apart: the address is ambiguous anyway. */
const INSTANCES_MAX = 100;

/** For whom an address is looked up: both must be able to reach who is found. */
export interface AddressReader {
  readonly accountId: AccountId;
  readonly principalId: string;
  readonly callerId: string;
}

export interface Addressed {
  readonly instance: Instance;
  readonly executors: readonly AddressedRow[];
}

/**
 * Looks up whom an address of the mesh means (chapter 8), in the records: who answers on the bus decides nothing. Invariant:
 * what it finds is then called as the caller's own step would be, by the same rules.
 */
@Injectable()
export class MeshAddresses {
  /**
   * The step that a call by address becomes. Throws `runner_not_eligible`, `tool_not_served`, `ambiguous_address` and
   * `invalid_tool_route`.
   */
  async becomes(sql: Sql, author: CallAuthor, run: FrozenRun, step: AddressStep): Promise<DirectStep> {
    const { accountId, principalId } = run;
    const reader = { accountId, principalId, callerId: author.memberId };
    const { address, path, name, key, timeoutMs, toolCallId, inputText, input } = step;
    const { instance } = await this.find(sql, reader, address, path);
    const called = { kind: 'tool', path, name, key, timeoutMs, toolCallId, inputText, input } as const;
    return instance.to === 'runner'
      ? { ...called, route: { runnerId: instance.executorId } }
      : { ...called, route: undefined, role: instance.to };
  }

  /** Whom the address means, and the executors that may take its call. Throws as `becomes`. */
  async find(sql: Sql, reader: AddressReader, address: MeshAddress, path: string): Promise<Addressed> {
    const { accountId, principalId, callerId } = reader;
    const { module, machine = null, toolName } = address;
    const who = [accountId, principalId, callerId, module] as const;
    const rows = await sql.rows(readAddressed, ...who, machine, toolName, INSTANCES_MAX);
    const instance = instanceOf(address, rows, path);
    if (instance) return { instance, executors: rows.filter((row) => row.module === module) };
    const isThere = machine === null || (await sql.row(isAssigned, ...who, machine)) !== undefined;
    throw isThere
      ? refuse('tool_not_served', `${path} names ${addressText(address)}, which nobody eligible serves`)
      : refuse('runner_not_eligible', `${path} names ${module}@${machine}, where nobody is eligible`);
  }
}
