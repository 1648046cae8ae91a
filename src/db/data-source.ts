import type { DataSourceOptions } from 'typeorm';
import { migrations } from '../../migrations/index.js';

/** How TypeORM reaches PostgreSQL; the node, the migrate command and the tests all use this. */
export function dataSourceOptions(
  url: string,
  poolMax: number,
): DataSourceOptions & { migrations: typeof migrations } {
  return {
    type: 'postgres',
    url,
    migrations,
    migrationsTableName: 'schema_migrations',
    synchronize: false,
    // gen_random_uuid() is built in: no extension is made
    uuidExtension: 'pgcrypto',
    installExtensions: false,
    applicationName: 'nexus',
    extra: {
      max: poolMax,
      connectionTimeoutMillis: 3_000,
      idleTimeoutMillis: 30_000,
      // a server that hangs is lost too: it would never tell that a statement took too long
      query_timeout: 10_500,
      statement_timeout: 10_000,
      idle_in_transaction_session_timeout: 15_000,
      keepAlive: true,
    },
  };
}
