import { describe, expect, it } from '@jest/globals';
import { JsonBody } from '../doors/body.js';
import type { VerbInput } from '../doors/input.js';
import { paginationOf } from '../doors/page.js';
import { Refusal } from '../errors/refusal.js';
import { discoveryRequest } from './discovery-request.js';

const query = (fields: Record<string, unknown>): VerbInput => ({
  body: JsonBody.empty,
  field: (name) => fields[name],
  header: () => undefined,
});

const ID = '01990000-0000-7000-8000-000000000001';

describe('a discovery request', () => {
  it('without parameters lists both kinds whole, 50 on a page', () => {
    expect(discoveryRequest(query({}))).toEqual({
      kinds: ['runner', 'tool_provider'],
      view: 'whole',
      words: [],
      limit: 50,
      after: undefined,
    });
  });

  it('takes one kind, a view, words in lower case, a limit and a cursor', () => {
    const after = paginationOf(ID, true).next_after;
    expect(
      discoveryRequest(query({ kind: 'runner', view: 'summary', q: '  Bash  ÄB\tc ', limit: '200', after })),
    ).toEqual({
      kinds: ['runner'],
      view: 'summary',
      words: ['bash', 'äb', 'c'],
      limit: 200,
      after: ID,
    });
  });

  it('with blank words asks for every row', () => {
    expect(discoveryRequest(query({ q: '  ' })).words).toEqual([]);
  });

  it.each([
    ['kind', 'agent_application'],
    ['kind', 'Runner'],
    ['kind', ''],
    ['kind', ['runner', 'runner']],
    ['view', 'whole'],
    ['view', ''],
    ['limit', '0'],
    ['limit', '201'],
    ['limit', '1.5'],
    ['limit', 'many'],
    ['after', 'nonsense'],
    ['after', ID],
    ['after', Buffer.from('"not an id"').toString('base64url')],
    ['q', ['a', 'b']],
    ['q', 'a\0b'],
    ['q', 'x'.repeat(257)],
  ])('is refused parameter_invalid for %s=%j, and names it', (name, value) => {
    try {
      discoveryRequest(query({ [name]: value }));
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      expect(refusal.code).toBe('parameter_invalid');
      expect(refusal.message).toMatch(new RegExp(`^${name} `));
      return;
    }
    throw new Error('it was admitted');
  });
});
