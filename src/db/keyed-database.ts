import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { ENV, type Env } from '../config/env.js';
import { dataSourceOptions } from './data-source.js';
import { Sql } from './statement.js';

/** Connections for the hot statements of a node; each carries up to 32 rows at a time. */
const CONNECTIONS = 8;

/**
 * What keeps every plan on the primary keys, whatever the statistics say. A plan is made once for a connection: one made
 * while a table was small scans it, and would go on scanning when it has grown.
 */
const KEY_ACCESS = [
  'enable_seqscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_material',
  'enable_bitmapscan',
]
  .map((setting) => `-c ${setting}=off`)
  .concat('-c plan_cache_mode=force_generic_plan', '-c jit=off')
  .join(' ');

/**
 * The hot paths' own connections, for prepared statements that find each row by a key (claim, commit, sweep). Invariant: no
 * statement here scans a table, and none waits for a connection behind an administrator's page.
 */
@Injectable()
export class KeyedDatabase extends Sql implements OnApplicationShutdown {
  readonly pool: pg.Pool;

  constructor(@Inject(ENV) env: Env) {
    const pool = new pg.Pool({
      ...(dataSourceOptions(env.DATABASE_URL ?? '', CONNECTIONS).extra as pg.PoolConfig),
      connectionString: env.DATABASE_URL,
      application_name: 'nexus keyed',
      options: KEY_ACCESS,
    });
    // a lost idle connection is made anew when it is needed
    pool.on('error', () => undefined);
    super(pool);
    this.pool = pool;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
