import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The steps of a call whose latency is watched. */
export type CallStep = 'accept' | 'deliver' | 'claim' | 'commit';

/** From half a millisecond to half a minute. */
const LATENCY_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

/** The node's Prometheus metrics. A registry of its own: two nodes may live in one process. Never labelled with ids. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  private readonly settledCalls = new Counter({
    name: 'nexus_calls_settled_total',
    help: 'Tasks that became final on this node, by status.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  private readonly steps = new Histogram({
    name: 'nexus_call_step_seconds',
    help: 'Time of one step of a call: accept and commit as the caller waits, deliver from acceptance to claim.',
    labelNames: ['step'],
    buckets: LATENCY_BUCKETS,
    registers: [this.registry],
  });
  private readonly claims = new Counter({
    name: 'nexus_claims_total',
    help: 'Claims asked for, by outcome: claimed, or the code of the refusal.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  private readonly lag = new Gauge({
    name: 'nexus_sweep_lag_seconds',
    help: 'How long past its deadline the last task was that the sweep settled.',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  /** A task became final here. */
  settled(outcome: string, count = 1): void {
    this.settledCalls.inc({ outcome }, count);
  }

  /** A step took this many seconds. */
  observe(step: CallStep, seconds: number): void {
    this.steps.observe({ step }, seconds);
  }

  claimed(outcome: string): void {
    this.claims.inc({ outcome });
  }

  sweepLag(seconds: number): void {
    this.lag.set(seconds);
  }

  /** A gauge that is read when it is scraped. */
  watch(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }
}
