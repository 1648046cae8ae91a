import { Command } from 'commander';
import { readEnv } from '../config/env.js';
import { writeOrCheck } from './checked-file.js';

/** `nexus schema`: migrates the database at DATABASE_URL and writes (or checks) the dump of what came out. */
export function schemaCommand(): Command {
  return new Command('schema')
    .description('write the schema that the migrations make of the database at DATABASE_URL')
    .option('--out <file>', 'where it goes', 'migrations/schema.sql')
    .option('--check', 'only compare: exit 1 when the file is out of date', false)
    .action(async ({ out, check }: { out: string; check: boolean }) => {
      const { DATABASE_URL } = readEnv();
      if (DATABASE_URL === undefined) throw new Error('DATABASE_URL is required');
      const { default: pg } = await import('pg');
      const { migrate } = await import('../db/migrate.js');
      const { dumpSchema } = await import('../db/schema-dump.js');
      await migrate(DATABASE_URL);
      const client = new pg.Client({ connectionString: DATABASE_URL });
      await client.connect();
      const text = await dumpSchema(client).finally(() => client.end());
      process.exit((await writeOrCheck(out, text, check)) ? 0 : 1);
    });
}
