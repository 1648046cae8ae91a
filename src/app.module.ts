import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { AnnouncementModule } from './announcement/announcement.module.js';
import { AssemblyModule } from './assembly/assembly.module.js';
import { BusModule } from './bus/bus.module.js';
import { ConfigModule } from './config/config.module.js';
import type { Env } from './config/env.js';
import { DbModule } from './db/db.module.js';
import { AnswerInterceptor } from './doors/answer.js';
import { AssignmentScopeGuard } from './doors/assignment-scope.guard.js';
import { CredentialReadinessGuard } from './doors/credential-readiness.guard.js';
import { DiscoveryModule } from './discovery/discovery.module.js';
import { DoorsModule } from './doors/doors.module.js';
import { PlaneGuard } from './doors/plane.guard.js';
import { RateGuard } from './doors/rate.guard.js';
import { RefusalFilter } from './doors/refusal.filter.js';
import { StillLiveInterceptor } from './doors/still-live.interceptor.js';
import { createValidationPipe } from './doors/validation.pipe.js';
import { EffectsModule } from './effects/effects.module.js';
import { HealthModule } from './health/health.module.js';
import { IdentityModule } from './identity/identity.module.js';
import { MeshModule } from './mesh/mesh.module.js';
import { RetentionModule } from './retention/retention.module.js';
import { RoutingModule } from './routing/routing.module.js';
import { WorkModule } from './work/work.module.js';

/** A Nexus node. The guards run in this order on both doors: who, still current, in scope, within the rate. */
@Module({})
export class AppModule {
  static of(env: Env): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.of(env),
        DbModule.forRoot(),
        BusModule,
        DoorsModule,
        HealthModule,
        IdentityModule,
        AnnouncementModule,
        DiscoveryModule,
        AssemblyModule,
        EffectsModule,
        RoutingModule,
        WorkModule,
        RetentionModule,
        MeshModule,
      ],
      providers: [
        { provide: APP_GUARD, useClass: PlaneGuard },
        { provide: APP_GUARD, useClass: CredentialReadinessGuard },
        { provide: APP_GUARD, useClass: AssignmentScopeGuard },
        { provide: APP_GUARD, useClass: RateGuard },
        { provide: APP_FILTER, useClass: RefusalFilter },
        { provide: APP_INTERCEPTOR, useClass: AnswerInterceptor },
        { provide: APP_INTERCEPTOR, useClass: StillLiveInterceptor },
        { provide: APP_PIPE, useFactory: createValidationPipe },
      ],
    };
  }
}
