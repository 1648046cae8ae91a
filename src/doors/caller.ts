import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AccountId } from '../db/account-id.js';

interface AnyCaller {
  readonly accountId: AccountId;
  readonly credentialId: string;
  /** Whom idempotency keys, audit entries and rate limits are counted for. */
  readonly principalId: string;
}

/** A human or an agent, acting as itself (plane `member`). */
export interface MemberCaller extends AnyCaller {
  readonly plane: 'member';
  readonly memberId: string;
  readonly kind: 'human' | 'agent';
  /** A human's role; an agent has none. */
  readonly role: 'member' | 'admin' | null;
  /** An agent's steward; a human has none. */
  readonly stewardId: string | null;
}

/** One executor at one epoch (plane `executor_transport`). */
export interface ExecutorCaller extends AnyCaller {
  readonly plane: 'executor_transport';
  readonly executorId: string;
  readonly epoch: number;
  readonly kind: 'runner' | 'agent_application' | 'tool_provider';
  readonly agentId: string | null;
  readonly modules: readonly string[];
}

/** An administrator of the account, as the human they are (plane `platform`). */
export interface PlatformCaller extends AnyCaller {
  readonly plane: 'platform';
  readonly memberId: string;
}

export type Caller = MemberCaller | ExecutorCaller | PlatformCaller;

/** Where the plane guard puts the caller, on a request of either transport. */
export interface Called {
  caller?: Caller;
}

/** The transport's own request of an execution context: Fastify's, or the bus request. */
export function calledOf(context: ExecutionContext): Called {
  return context.getType() === 'http'
    ? context.switchToHttp().getRequest<Called>()
    : context.switchToRpc().getContext<Called>();
}

/** Injects the authenticated caller. The type follows from the verb's plane, which the guard has proven. */
export const CallerOf = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = calledOf(context);
  if (!caller) throw new Error('A handler that asks for its caller has no plane');
  return caller;
});
