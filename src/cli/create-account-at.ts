import pg from 'pg';
import { Sql } from '../db/statement.js';
import { nameFault } from '../identity/field-rules.js';
import { createAccount, type NewAccount } from '../identity/new-account.js';

/** PostgreSQL's code for a table that is not there. */
const UNDEFINED_TABLE = '42P01';

/** Makes an account in the database at `url`. Throws for a name nobody could read, and for a database without schema. */
export async function createAccountAt(url: string, name: string): Promise<NewAccount> {
  const fault = nameFault(name);
  if (fault !== undefined) throw new Error(`the name${fault}`);
  const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 5_000 });
  try {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const account = await createAccount(new Sql(client), name);
      await client.query('commit');
      return account;
    } finally {
      // an open transaction ends with its connection
      client.release(true);
    }
  } catch (failure) {
    if ((failure as { code?: unknown }).code !== UNDEFINED_TABLE) throw failure;
    throw new Error('the database has no Nexus schema yet: start a node on it, or run `nexus migrate`', {
      cause: failure,
    });
  } finally {
    await pool.end();
  }
}
