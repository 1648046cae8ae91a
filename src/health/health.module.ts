import { Module, type OnModuleInit } from '@nestjs/common';
import { BusConnections } from '../bus/bus-connections.js';
import { BusStrategy } from '../bus/bus.strategy.js';
import { Database } from '../db/database.js';
import { Metrics } from '../doors/metrics.js';
import { HealthController } from './health.controller.js';

/** Probes and metrics: the state of the bus and of the pool, read when they are asked for. */
@Module({ controllers: [HealthController] })
export class HealthModule implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly database: Database,
    private readonly bus: BusConnections,
    private readonly strategy: BusStrategy,
  ) {}

  onModuleInit(): void {
    const { metrics, database, bus, strategy } = this;
    metrics.watch('nexus_bus_up', '1 while every connection to NATS is up.', () => Number(bus.isUp));
    metrics.watch(
      'nexus_bus_requests_in_flight',
      'Bus requests being answered.',
      () => strategy.requestsInFlight,
    );
    metrics.watch(
      'nexus_bus_requests_dropped',
      'Bus requests dropped since the start because their reply subject was not the asker’s inbox.',
      () => strategy.droppedRequests,
    );
    metrics.watch('nexus_pool_connections', 'Connections to PostgreSQL.', () => database.pool.totalCount);
    metrics.watch(
      'nexus_pool_idle',
      'Connections to PostgreSQL that are free.',
      () => database.pool.idleCount,
    );
    metrics.watch(
      'nexus_pool_waiting',
      'Statements waiting for a connection.',
      () => database.pool.waitingCount,
    );
  }
}
