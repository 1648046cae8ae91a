import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Authenticator } from '../doors/authenticator.js';
import { AccountController } from './account.controller.js';
import { Account } from './account.entity.js';
import { AuditEntry } from './audit-entry.entity.js';
import { AuditService } from './audit.service.js';
import { BusAccess } from './bus-access.js';
import { ContactLog } from './contact-log.js';
import { CredentialAuthenticator } from './credential-authenticator.js';
import { CredentialController } from './credential.controller.js';
import { Credential } from './credential.entity.js';
import { CredentialService } from './credential.service.js';
import { ExecutorDirectory } from './executor-directory.js';
import { ExecutorLifecycleService } from './executor-lifecycle.service.js';
import { ExecutorController } from './executor.controller.js';
import { Executor } from './executor.entity.js';
import { FirstStart } from './first-start.js';
import { MemberController } from './member.controller.js';
import { Member } from './member.entity.js';
import { MemberService } from './member.service.js';
import { OwnRunnerController } from './own-runner.controller.js';
import { Presence } from './presence.js';
import { RegistrationService } from './registration.service.js';
import { RetentionSettingsService } from './retention-settings.service.js';
import { RevocationHooks } from './revocation-hooks.js';

/** Accounts, members, executors and their credentials (chapter 1): who is asking, and whom they may address. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([Account, AuditEntry, Credential, Executor, Member])],
  controllers: [
    AccountController,
    CredentialController,
    ExecutorController,
    MemberController,
    OwnRunnerController,
  ],
  providers: [
    AuditService,
    BusAccess,
    ContactLog,
    CredentialAuthenticator,
    CredentialService,
    ExecutorDirectory,
    ExecutorLifecycleService,
    FirstStart,
    MemberService,
    Presence,
    RegistrationService,
    RetentionSettingsService,
    RevocationHooks,
    { provide: Authenticator, useExisting: CredentialAuthenticator },
  ],
  exports: [AuditService, Authenticator, ExecutorDirectory, Presence, RevocationHooks, TypeOrmModule],
})
export class IdentityModule {}
