import type { VerbParameter } from '../doors/verb.js';

/** The query of every list (chapter 3). */
export const pageParameters: readonly VerbParameter[] = [
  { name: 'after', in: 'query', description: 'The `next_after` of the page before.' },
  { name: 'limit', in: 'query', description: 'Rows at most, 1 to 200; 50 when absent.', example: 50 },
];

export const idempotencyParameter: VerbParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes a repeat answer the first answer, with `Idempotency-Replayed: true`, for 24 hours.',
  example: 'b1c6f0a2',
};
