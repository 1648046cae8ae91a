import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { throwError } from 'rxjs';
import type { Refusal } from '../errors/refusal.js';
import { refusalOf } from './refusal-of.js';

/** Turns every fault of either door into the one envelope of chapter 9. */
@Catch()
export class RefusalFilter implements ExceptionFilter {
  private readonly log = new Logger('Refusal');

  catch(fault: unknown, host: ArgumentsHost): unknown {
    const http = host.getType() === 'http';
    const requestId = http
      ? host.switchToHttp().getRequest<FastifyRequest>().id
      : host.switchToRpc().getContext<{ id: string }>().id;
    const { refusal, unexpected } = refusalOf(fault, requestId);
    if (unexpected) {
      const { message, stack } =
        fault instanceof Error ? fault : { message: String(fault), stack: undefined };
      this.log.error({ requestId, message, stack });
    }
    if (!http) return throwError(() => refusal);
    answerRefusal(host.switchToHttp().getResponse<FastifyReply>(), refusal);
    return undefined;
  }
}

function answerRefusal(reply: FastifyReply, refusal: Refusal): void {
  if (reply.sent) return;
  if (refusal.status === 401) void reply.header('WWW-Authenticate', 'Bearer realm="Nexus"');
  if (refusal.retryAfterSeconds !== undefined)
    void reply.header('Retry-After', String(refusal.retryAfterSeconds));
  void reply.status(refusal.status).send(refusal.envelope);
}
