import { Global, Module } from '@nestjs/common';
import { Idempotency } from './idempotency.js';
import { Metrics } from './metrics.js';
import { RateLimits } from './rate-limits.js';

/** What both doors share and use cases are injected with. */
@Global()
@Module({ providers: [Idempotency, Metrics, RateLimits], exports: [Idempotency, Metrics, RateLimits] })
export class DoorsModule {}
