import { setTimeout as pause } from 'node:timers/promises';
import { Controller } from '@nestjs/common';
import { BusConnections } from '../bus/bus-connections.js';
import { Database } from '../db/database.js';
import { statement } from '../db/statement.js';
import { Answer } from '../doors/answer.js';
import { Metrics } from '../doors/metrics.js';
import { Verb } from '../doors/verb.decorator.js';
import { livenessVerb, metricsVerb, readinessVerb } from './health.verbs.js';

/** A database that does not answer within this is down for a probe. */
const READY_LIMIT_MS = 1_500;

const ping = statement<[], { up: number }>('health_ping', 'select 1 as up');

/** What an operator's probes ask. */
@Controller()
export class HealthController {
  constructor(
    private readonly database: Database,
    private readonly bus: BusConnections,
    private readonly metrics: Metrics,
  ) {}

  @Verb(livenessVerb)
  liveness(): object {
    return { status: 'ok' };
  }

  @Verb(readinessVerb)
  async readiness(): Promise<Answer> {
    const asked = this.database.rows(ping).then(
      () => 'up',
      () => 'down',
    );
    const database = await Promise.race([asked, pause(READY_LIMIT_MS, 'down', { ref: false })]);
    const bus = this.bus.isUp ? 'up' : 'down';
    if (database === 'up' && bus === 'up') return new Answer({ status: 'ok', database, bus });
    return new Answer({ status: 'unavailable', database, bus }, 503, { 'Retry-After': '1' });
  }

  @Verb(metricsVerb)
  async scrape(): Promise<Answer> {
    return new Answer(await this.metrics.registry.metrics(), 200, {
      'Content-Type': this.metrics.registry.contentType,
    });
  }
}
