import { join } from 'node:path';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ENV, type Env } from '../config/env.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import { createAccount } from './new-account.js';
import { writeSecretFile } from './secret-file.js';

/** Any number all Nexus nodes agree on. */
const FIRST_START_LOCK = 7_420_001;

const lockFirstStart = statement<[key: number], never>(
  'first_start_lock',
  'select pg_advisory_xact_lock($1::bigint)',
);

const readEmptiness = statement<[], { empty: boolean }>(
  'first_start_is_empty',
  'select not exists (select from accounts) as empty',
);

/**
 * The first start of an empty database makes the account `default` with one administrator and one platform credential
 * (chapter 1). Invariant: of nodes that start together one does it, and its secret is on disk before the account is
 * committed, so an account never exists whose secret nobody has.
 */
@Injectable()
export class FirstStart implements OnApplicationBootstrap {
  private readonly log = new Logger(FirstStart.name);
  private readonly secretFile: string;

  constructor(
    @Inject(ENV) env: Env,
    private readonly database: Database,
  ) {
    this.secretFile = join(env.NEXUS_HOME, 'platform.secret');
  }

  /** Runs before the node listens. */
  async onApplicationBootstrap(): Promise<void> {
    const secret = await this.database.transaction(async (sql) => {
      await sql.rows(lockFirstStart, FIRST_START_LOCK);
      if (!(await sql.row(readEmptiness))?.empty) return undefined;
      const { platformToken } = await createAccount(sql, 'default');
      await writeSecretFile(this.secretFile, platformToken);
      return platformToken;
    });
    if (secret === undefined) return;
    this.log.log(`first start: the account "default" is made, its platform secret is in ${this.secretFile}`);
    // to somebody who reads it now; what collects output would keep it
    if (process.stdout.isTTY) process.stdout.write(`\nPlatform secret (shown this once): ${secret}\n\n`);
  }
}
