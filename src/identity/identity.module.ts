import { Global, Module } from '@nestjs/common';
import { Authenticator } from '../doors/authenticator.js';
import { ContactLog } from './contact-log.js';
import { CredentialAuthenticator } from './credential-authenticator.js';
import { ExecutorDirectory } from './executor-directory.js';
import { Presence } from './presence.js';

/** Accounts, members, executors and their credentials (chapter 1): who is asking, and whom they may address. */
@Global()
@Module({
  providers: [
    ContactLog,
    ExecutorDirectory,
    Presence,
    CredentialAuthenticator,
    { provide: Authenticator, useExisting: CredentialAuthenticator },
  ],
  exports: [Authenticator, ExecutorDirectory, Presence],
})
export class IdentityModule {}
