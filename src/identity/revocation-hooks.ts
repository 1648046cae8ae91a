import { Injectable } from '@nestjs/common';
import type { Sql } from '../db/statement.js';

/** What is left to tell once the revocation is committed. */
export type AfterRevocation = () => void | Promise<void>;

/** Settles what the executor holds, in the transaction that revokes it. */
export type RevocationHook = (sql: Sql, executorId: string) => Promise<AfterRevocation>;

/**
 * Modules to the right of identity that must act when an executor is revoked (chapter 1: its open tasks settle at once).
 * Invariant: all hooks run in the revocation's transaction; what they publish waits for its commit.
 */
@Injectable()
export class RevocationHooks {
  private readonly hooks: RevocationHook[] = [];

  add(hook: RevocationHook): void {
    this.hooks.push(hook);
  }

  async run(sql: Sql, executorId: string): Promise<AfterRevocation> {
    const after: AfterRevocation[] = [];
    for (const hook of this.hooks) after.push(await hook(sql, executorId));
    return async () => {
      for (const tell of after) await tell();
    };
  }
}
