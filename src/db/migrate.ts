import pg from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from './data-source.js';

/** Any number all Nexus nodes agree on: "nexus" in ASCII. */
const MIGRATION_LOCK = 0x6e65787573;

/**
 * Brings the database at `url` to the newest schema and answers the names of what it ran. Several nodes may
 * start at once: one migrates under an advisory lock, the others wait and find nothing to do.
 */
export async function migrate(url: string): Promise<string[]> {
  const guard = new pg.Client({ connectionString: url });
  await guard.connect();
  try {
    await guard.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const options = dataSourceOptions(url, 2);
    // a migration takes as long as it takes
    const extra = { ...(options.extra as object), query_timeout: 0, statement_timeout: 0 };
    const dataSource = await new DataSource({ ...options, extra }).initialize();
    try {
      const ran = await dataSource.runMigrations({ transaction: 'each' });
      return ran.map((migration) => migration.name);
    } finally {
      await dataSource.destroy();
    }
  } finally {
    await guard.end();
  }
}
