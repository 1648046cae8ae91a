import { describe, expect, it } from '@jest/globals';
import { announce } from './announce.js';
import { RefusedError } from './refused-error.js';
import type { AnnouncementBody, Fault } from './wire.js';

const named = (...names: string[]): AnnouncementBody =>
  ({ tools: names.map((name) => ({ name })), documents: [{ name: 'a', description: 'A' }] }) as never;

const refusal = (...details: Fault[]): RefusedError =>
  new RefusedError('invalid_announcement', 422, details[0]?.message ?? 'refused', details);

/** Takes names without an exclamation mark; names at most `most` faults at a time. */
function nexus(most: number): { sent: AnnouncementBody[]; send: (body: AnnouncementBody) => Promise<void> } {
  const sent: AnnouncementBody[] = [];
  return {
    sent,
    send: (body) => {
      sent.push(body);
      const faults = body.tools.flatMap(({ name }, index) =>
        name.includes('!')
          ? [{ path: `tools[${index}].name`, message: `tools[${index}].name must match …` }]
          : [],
      );
      return faults.length === 0 ? Promise.resolve() : Promise.reject(refusal(...faults.slice(0, most)));
    },
  };
}

describe('Announcing', () => {
  it('throws what is refused when the caller says so', async () => {
    const { send } = nexus(20);
    await expect(announce(named('read', 'a!'), 'throw', send)).rejects.toThrow('tools[1].name must match');
  });

  it('leaves out the entries named in details, announces the rest and reports what it left out', async () => {
    const { sent, send } = nexus(20);
    const { announced, leftOut } = await announce(named('a!', 'read', 'b!'), 'drop', send);
    expect(announced.tools.map(({ name }) => name)).toEqual(['read']);
    expect(leftOut).toEqual([
      { list: 'tools', name: 'a!', faults: ['tools[0].name must match …'] },
      { list: 'tools', name: 'b!', faults: ['tools[2].name must match …'] },
    ]);
    expect(sent).toHaveLength(2);
  });

  it('goes on until it is taken when there are more faults than a refusal names', async () => {
    const { send } = nexus(2);
    const { announced, leftOut } = await announce(named('1!', '2!', '3!', '4!', '5!', 'read'), 'drop', send);
    expect(announced.tools.map(({ name }) => name)).toEqual(['read']);
    expect(leftOut).toHaveLength(5);
  });

  it('leaves out documents too', async () => {
    const send = (body: AnnouncementBody): Promise<void> =>
      body.documents?.length
        ? Promise.reject(refusal({ path: 'documents[0]', message: 'no' }))
        : Promise.resolve();
    const { announced, leftOut } = await announce(named('read'), 'drop', send);
    expect(announced.documents).toEqual([]);
    expect(leftOut).toEqual([{ list: 'documents', name: 'a', faults: ['no'] }]);
  });

  it.each([
    ['the environment', refusal({ path: 'environment', message: 'environment must be an object' })],
    ['a whole list', refusal({ path: 'tools', message: 'tools is too large' })],
    ['nothing', new RefusedError('validation_failed', 422, 'too large')],
    ['the credential', new RefusedError('unauthorized', 401, 'no')],
  ])('throws a refusal that names %s, also with drop', async (_, fault) => {
    await expect(announce(named('read'), 'drop', () => Promise.reject(fault))).rejects.toBe(fault);
  });
});
