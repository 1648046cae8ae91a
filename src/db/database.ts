import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { Sql } from './statement.js';

/** Connections that no transaction takes: what a transaction reads through a cache must find one. */
const READ_RESERVE = 2;

/**
 * The hot paths' way to PostgreSQL: prepared statements on the pool that TypeORM keeps, and transactions.
 * Invariant: one pool for a node, whoever uses it.
 */
@Injectable()
export class Database extends Sql {
  readonly pool: Pool;
  private readonly admitted: LimitFunction;

  constructor(@InjectDataSource() dataSource: DataSource) {
    const { master } = dataSource.driver as unknown as { master: Pool };
    super(master);
    this.pool = master;
    this.admitted = pLimit(Math.max(1, (master.options.max ?? 10) - READ_RESERVE));
  }

  /**
   * Runs `work` in one READ COMMITTED transaction: committed when it resolves, rolled back when it throws. Some connections
   * are left to plain statements, which `work` may wait for; it must not wait for another transaction.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.admitted(() => this.runTransaction(work));
  }

  private async runTransaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
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
