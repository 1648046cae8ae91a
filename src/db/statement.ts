import type { Pool, PoolClient } from 'pg';

/** One prepared SQL statement: `name` is unique in the program, `Row` is what it answers with. */
export interface Statement<Params extends readonly unknown[], Row> {
  readonly name: string;
  readonly text: string;
  /** Types only: never present at run time. */
  readonly types?: { params: Params; row: Row };
}

const names = new Set<string>();

/** Declares a prepared statement. Throws when the name is taken, since PostgreSQL would run the other text. */
export function statement<Params extends readonly unknown[], Row>(
  name: string,
  text: string,
): Statement<Params, Row> {
  if (names.has(name)) throw new Error(`Two statements are named ${name}`);
  names.add(name);
  return { name, text };
}

/** Something that runs statements: the pool, or the connection of one transaction. */
export class Sql {
  constructor(private readonly runner: Pool | PoolClient) {}

  async rows<P extends readonly unknown[], R>(sql: Statement<P, R>, ...params: P): Promise<R[]> {
    const { name, text } = sql;
    const result = await this.runner.query({ name, text, values: params as unknown as unknown[] });
    return result.rows as R[];
  }

  async row<P extends readonly unknown[], R>(sql: Statement<P, R>, ...params: P): Promise<R | undefined> {
    return (await this.rows(sql, ...params))[0];
  }
}
