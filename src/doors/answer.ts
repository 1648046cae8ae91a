import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import { verbOf } from './verb.decorator.js';

/** A success that is more than its body: another status than the verb's, or headers (REST only). */
export class Answer {
  constructor(
    readonly body: unknown,
    readonly status?: number,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** Gives REST answers their status and headers. The bus transport unwraps an `Answer` by itself. */
@Injectable()
export class AnswerInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const status = verbOf(context).rest?.status ?? 200;
    return next.handle().pipe(
      map((result: unknown) => {
        if (!(result instanceof Answer)) {
          void reply.status(status);
          return result;
        }
        void reply.status(result.status ?? status).headers(result.headers);
        return result.body;
      }),
    );
  }
}
