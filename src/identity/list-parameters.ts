import type { VerbParameter } from '../doors/verb.js';

/** What every keyset-paged list takes. */
export const pageParameters: readonly VerbParameter[] = [
  { name: 'limit', in: 'query', description: 'Rows on a page at most; 1 to 200.', example: 50 },
  { name: 'after', in: 'query', description: 'The `next_after` of the page before.' },
];

/** What every verb takes that may be repeated by its key (chapter 9). */
export const idempotencyKey: VerbParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key and body again, within 24 hours, answer the first answer.',
  example: 'a-key-of-your-own',
};
