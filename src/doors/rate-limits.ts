import { Inject, Injectable } from '@nestjs/common';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ENV, type Env } from '../config/env.js';
import { refuseUntil } from '../errors/refusal.js';
import type { Caller } from './caller.js';
import type { RateClass } from './verb.js';

/** A source address may do ten times what one credential may (chapter 9). */
const SOURCE_FACTOR = 10;

/** Counts requests a minute for each credential and route family, and for each source. Per node: exactness is not needed. */
@Injectable()
export class RateLimits {
  private readonly families: Record<RateClass, RateLimiterMemory>;
  private readonly sources: RateLimiterMemory;
  private readonly badTokens: RateLimiterMemory;

  constructor(@Inject(ENV) env: Env) {
    this.families = {
      work: perMinute(env.NEXUS_RATE_WORK),
      progress: perMinute(env.NEXUS_RATE_PROGRESS),
      claim_status: perMinute(env.NEXUS_RATE_CLAIM_STATUS),
      general: perMinute(env.NEXUS_RATE_GENERAL),
    };
    this.sources = perMinute(env.NEXUS_RATE_WORK * SOURCE_FACTOR);
    this.badTokens = perMinute(env.NEXUS_RATE_GENERAL * SOURCE_FACTOR);
  }

  /** Throws `rate_limited` when the credential has spent this family's minute. */
  async admit(caller: Caller, family: RateClass): Promise<void> {
    await spend(this.families[family], caller.credentialId);
  }

  /** Throws `rate_limited` when the source has spent its minute, or its share of bad tokens. */
  async admitSource(source: string): Promise<void> {
    await spend(this.sources, source);
    const bad = await this.badTokens.get(source);
    if (bad && bad.remainingPoints <= 0) throw refuseUntil('rate_limited', bad.msBeforeNext / 1000);
  }

  async countBadToken(source: string): Promise<void> {
    await spend(this.badTokens, source);
  }
}

const perMinute = (points: number): RateLimiterMemory => new RateLimiterMemory({ points, duration: 60 });

async function spend(limiter: RateLimiterMemory, key: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (full) {
    if (full instanceof RateLimiterRes) throw refuseUntil('rate_limited', full.msBeforeNext / 1000);
    throw full;
  }
}
