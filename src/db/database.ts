import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { Sql } from './statement.js';

/**
 * The hot paths' way to PostgreSQL: prepared statements on the pool that TypeORM keeps, and transactions.
 * Invariant: one pool for a node, whoever uses it.
 */
@Injectable()
export class Database extends Sql {
  readonly pool: Pool;

  constructor(@InjectDataSource() dataSource: DataSource) {
    const { master } = dataSource.driver as unknown as { master: Pool };
    super(master);
    this.pool = master;
  }

  /** Runs `work` in one READ COMMITTED transaction: committed when it resolves, rolled back when it throws. */
  async transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query('begin');
      const result = await work(new Sql(client));
      await client.query('commit');
      return result;
    } catch (fault) {
      await client.query('rollback').catch((lost: Error) => (broken = lost));
      throw fault;
    } finally {
      client.release(broken);
    }
  }
}
