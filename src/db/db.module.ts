import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ENV, type Env } from '../config/env.js';
import { dataSourceOptions } from './data-source.js';
import { Database } from './database.js';
import { KeyedDatabase } from './keyed-database.js';

/**
 * One data source for the node, and the hot statements' own connections. The schema is brought up to date before the node
 * is made.
 */
@Module({})
export class DbModule {
  static forRoot(): DynamicModule {
    return {
      module: DbModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [ENV],
          useFactory: (env: Env) => ({
            ...dataSourceOptions(env.DATABASE_URL ?? '', env.DATABASE_POOL_MAX),
            autoLoadEntities: true,
            retryAttempts: 0,
          }),
        }),
      ],
      providers: [Database, KeyedDatabase],
      exports: [Database, KeyedDatabase],
    };
  }
}
