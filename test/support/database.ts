import pg from 'pg';
import { migrate } from '../../src/db/migrate.js';

/** The servers that the global set-up started. */
export const SERVERS = {
  get postgres(): string {
    return required('TEST_DATABASE_URL');
  },
  get nats(): string {
    return required('TEST_NATS_URL');
  },
  /** Lets everybody in: for nodes in token mode. */
  get openNats(): string {
    return required('TEST_OPEN_NATS_URL');
  },
  /** The secret of the managed bus. */
  get busKeys(): string {
    return required('TEST_BUS_KEYS');
  },
};

const TEMPLATE = 'nexus_template';
/** Any number the test workers agree on. */
const TEMPLATE_LOCK = 7_420;

let made = 0;

/** A fresh database with the newest schema, cloned from a template that the first caller migrates. Answers its URL. */
export async function createDatabase(): Promise<string> {
  const name = `nexus_${process.pid}_${Date.now().toString(36)}_${(made += 1)}`;
  await asAdministrator(async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await admin.query(`select from pg_database where datname = $1 and datistemplate`, [
      TEMPLATE,
    ]);
    if (rowCount === 0) {
      await admin.query(`drop database if exists ${TEMPLATE}`);
      await admin.query(`create database ${TEMPLATE}`);
      await migrate(databaseUrl(TEMPLATE));
      await admin.query(`alter database ${TEMPLATE} is_template true`);
    }
    await admin.query(`create database ${name} template ${TEMPLATE} strategy file_copy`);
  });
  return databaseUrl(name);
}

export async function dropDatabase(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  await asAdministrator((admin) => admin.query(`drop database if exists ${name} with (force)`));
}

async function asAdministrator(work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: SERVERS.postgres });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function databaseUrl(name: string): string {
  const url = new URL(SERVERS.postgres);
  url.pathname = `/${name}`;
  return url.href;
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is set by the global set-up`);
  return value;
}
