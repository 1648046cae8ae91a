import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { mergeMap, type Observable } from 'rxjs';
import { refuse } from '../errors/refusal.js';
import { Authenticator } from './authenticator.js';
import { calledOf } from './caller.js';
import { verbOf } from './verb.decorator.js';

/** Who waited for an answer gets it only if their credential still is live: a revocation fences at once (chapter 1). */
@Injectable()
export class StillLiveInterceptor implements NestInterceptor {
  constructor(private readonly authenticator: Authenticator) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { caller } = calledOf(context);
    if (!verbOf(context).waits || !caller) return next.handle();
    return next.handle().pipe(
      mergeMap(async (answer: unknown) => {
        if (!(await this.authenticator.isLive(caller))) throw refuse('unauthorized');
        return answer;
      }),
    );
  }
}
