import { describe, expect, it } from '@jest/globals';
import type { Assignment } from './fleet.js';
import type { InfoAnswer } from './info-answer.js';
import { instancesToAsk, keyOf, prove } from './proof.js';

const [E1, E2] = ['01990000-0000-7000-8000-000000000001', '01990000-0000-7000-8000-000000000002'];
const STRANGER = '01990000-0000-7000-8000-00000000000f';

const assignment = (executorId: string, fields: Partial<Assignment> = {}): Assignment => ({
  module: 'tools',
  machine: `machine-${executorId.slice(-1)}`,
  executorId,
  kind: 'runner',
  serviceIds: 'pinned',
  lastSeenAt: null,
  declaresTools: true,
  interchangeable: false,
  boundId: null,
  subjects: { tool: `p.tool.${executorId}.1`, work: `p.work.${executorId}.1` },
  serves: true,
  toolNames: new Set(['ls']),
  ...fields,
});

const answer = (executorId: string, fields: Partial<InfoAnswer> = {}): InfoAnswer => ({
  name: 'tools',
  id: executorId,
  version: '1.0.0',
  machine: null,
  endpoints: [endpoint(`p.tool.${executorId}.1.ls`)],
  ...fields,
});

const endpoint = (subject: string, name = 'ls') => ({ name, subject, queue_group: 'q', description: '' });

/** What the fleet is of these records, broadcast answers, and answers to directed asks. */
function seen(records: Assignment[], heard: InfoAnswer[], direct: InfoAnswer[] = []) {
  const { services, notAnswering, unexpected } = prove(
    records,
    heard,
    new Map(direct.map((one) => [keyOf(one), one])),
    'p',
  );
  return {
    answering: services.map(({ id, assignment: record }) => record?.executorId ?? id),
    endpoints: services.flatMap(({ endpoints }) => endpoints.map(({ name }) => name)),
    missed: notAnswering.map(({ executorId }) => executorId),
    unexpected: unexpected.map(({ answer: { id }, reason }) => `${id}: ${reason}`),
  };
}

describe('Whoever is asked directly', () => {
  it('is each assignment, and each seat that answered', () => {
    const seat = answer('node', { name: 'nexus-console' });
    const asked = instancesToAsk([assignment(E1), assignment(E2)], [answer(E1), seat, answer(STRANGER)]);
    expect(asked.map(keyOf)).toEqual([`tools.${E1}`, `tools.${E2}`, 'nexus-console.node']);
  });

  it('is asked under its bound id where nothing came, and not where a directed ask proves nothing', () => {
    const records = [assignment(E1, { serviceIds: 'any', boundId: 'bound' }), assignment(E2)];
    expect(instancesToAsk(records, []).map(keyOf)).toEqual(['tools.bound']);
    expect(instancesToAsk(records, [answer(E1, { id: 'bound' })])).toEqual([]);
    expect(instancesToAsk([assignment(E1, { boundId: 'bound' })], []).map(keyOf)).toEqual([
      'tools.bound',
      `tools.${E1}`,
    ]);
  });
});

describe('An answer counts for an executor', () => {
  it('when its id is the public id and a directed ask agrees', () => {
    expect(seen([assignment(E1)], [answer(E1)], [answer(E1)])).toEqual({
      answering: [E1],
      endpoints: ['ls'],
      missed: [],
      unexpected: [],
    });
  });

  it('not when a directed ask brings nothing', () => {
    expect(seen([assignment(E1)], [answer(E1)])).toMatchObject({
      answering: [],
      missed: [E1],
      unexpected: [`${E1}: its executor does not answer so when it is asked directly`],
    });
  });

  it('not when a directed ask brings something else, which then counts', () => {
    const lie = answer(E1, { endpoints: [endpoint(`p.tool.${E1}.1.rm`)] });
    expect(seen([assignment(E1)], [lie, answer(E1)], [answer(E1)])).toEqual({
      answering: [E1],
      endpoints: ['ls'],
      missed: [],
      unexpected: [`${E1}: its executor does not answer so when it is asked directly`],
    });
  });

  it('when everybody’s gather lost it and the directed ask did not', () => {
    expect(seen([assignment(E1)], [], [answer(E1)])).toMatchObject({ answering: [E1], missed: [] });
  });

  it('when its id is the one that its own announcement bound, without being asked again', () => {
    const record = assignment(E1, { serviceIds: 'any', boundId: 'bound' });
    expect(seen([record], [answer(E1, { id: 'bound' })])).toMatchObject({ answering: [E1], unexpected: [] });
  });

  it('in a module of any ids only so: a directed ask proves nothing there', () => {
    const records = [assignment(E1), assignment(E2, { serviceIds: 'any' })];
    expect(seen(records, [answer(E1), answer(E2)], [answer(E1), answer(E2)])).toMatchObject({
      answering: [],
      missed: [E1, E2],
      unexpected: [E1, E2].map(
        (id) => `${id}: its id was not announced, and in its module ids are not pinned`,
      ),
    });
    expect(seen([assignment(E1, { boundId: E1 }), records[1] as Assignment], [answer(E1)])).toMatchObject({
      answering: [E1],
    });
  });

  it('of several under one bound id the one that fits what was announced', () => {
    const record = assignment(E1, { boundId: 'bound' });
    const own = answer(E1, { id: 'bound' });
    const lie = answer(E1, { id: 'bound', version: '6.6.6', endpoints: [endpoint('elsewhere')] });
    for (const heard of [
      [own, lie],
      [lie, own],
    ]) {
      expect(seen([record], heard)).toMatchObject({ answering: [E1], endpoints: ['ls'] });
      expect(seen([record], heard).unexpected).toHaveLength(1);
    }
  });

  it('twice the same is one', () => {
    expect(seen([assignment(E1)], [answer(E1), answer(E1)], [answer(E1)])).toMatchObject({
      answering: [E1],
      unexpected: [],
    });
    const stranger = answer(STRANGER);
    expect(seen([], [stranger, { ...stranger }]).unexpected).toHaveLength(1);
  });
});

describe('What is unexpected', () => {
  it('has no record: another id, or another module', () => {
    const elsewhere = answer(E1, { name: 'memory' });
    expect(seen([assignment(E1)], [answer(STRANGER), elsewhere, answer(E1)], [answer(E1)])).toMatchObject({
      answering: [E1],
      unexpected: [`${STRANGER}: there is no record of it`, `${E1}: there is no record of it`],
    });
  });

  it.each([
    ['p.tool.other.1.ls'],
    [`p.tool.${E1}.2.ls`],
    [`p.tool.${E1}.1.ls.x`],
    [`p.tool.${E1}.1.`],
    [`p.tool.${E1}.1`],
    [`p.executor.${E1}.1.announce`],
  ])('serves outside its own subjects: %s', (subject) => {
    const own = answer(E1, { endpoints: [endpoint(`p.tool.${E1}.1.ls`), endpoint(subject)] });
    expect(seen([assignment(E1)], [own], [own])).toEqual({
      answering: [E1],
      endpoints: ['ls'],
      missed: [],
      unexpected: [`${E1}: it serves outside its own subjects: ${subject}`],
    });
  });

  it('serves other tools than it announced: more, or fewer where it serves by request', () => {
    const more = answer(E1, {
      endpoints: [endpoint(`p.tool.${E1}.1.ls`), endpoint(`p.tool.${E1}.1.rm`)],
    });
    expect(seen([assignment(E1)], [more], [more])).toMatchObject({
      answering: [E1],
      endpoints: ['ls'],
      unexpected: [`${E1}: it serves what it did not announce: rm`],
    });
    const none = answer(E1, { endpoints: [] });
    expect(seen([assignment(E1)], [none], [none]).unexpected).toEqual([
      `${E1}: it does not serve what it announced: ls`,
    ]);
    expect(seen([assignment(E1, { serves: false })], [none], [none]).unexpected).toEqual([]);
  });

  it('is said with five names at most', () => {
    const many = Array.from({ length: 7 }, (_, index) => endpoint(`p.tool.${E1}.1.rm${index}`));
    const own = answer(E1, { endpoints: [endpoint(`p.tool.${E1}.1.ls`), ...many] });
    expect(seen([assignment(E1)], [own], [own]).unexpected).toEqual([
      `${E1}: it serves what it did not announce: rm0, rm1, rm2, rm3, rm4 and 2 more`,
    ]);
  });

  it('does not count a work subject of its own, where calls are claimed', () => {
    const own = answer(E1, { endpoints: [endpoint(`p.work.${E1}.1`)] });
    expect(seen([assignment(E1, { serves: false })], [own], [own])).toMatchObject({
      endpoints: ['ls'],
      unexpected: [],
    });
  });

  it('is listed a thousand times at most', () => {
    const flood = Array.from({ length: 1_500 }, (_, index) => answer(`stranger-${index}`));
    expect(seen([assignment(E1)], [...flood, answer(E1)], [answer(E1)])).toMatchObject({ answering: [E1] });
    expect(seen([], flood).unexpected).toHaveLength(1_000);
  });
});

describe('What is not answering', () => {
  it('is each assignment of a module that declares tools, and never another', () => {
    const records = [assignment(E1), assignment(E2, { module: 'notes', declaresTools: false })];
    expect(seen(records, [])).toMatchObject({ missed: [E1] });
  });
});

describe('A seat', () => {
  const seat = answer('node', {
    name: 'nexus-console',
    machine: 'nexus-here',
    endpoints: [endpoint('p.member.*.tools', 'tools')],
  });

  it('counts when a directed ask agrees', () => {
    expect(seen([], [seat], [seat])).toMatchObject({
      answering: ['node'],
      endpoints: ['tools'],
      unexpected: [],
    });
  });

  it('does not when nobody answers so directly, or it is not of this Nexus', () => {
    expect(seen([], [seat])).toMatchObject({
      answering: [],
      unexpected: ['node: no node of Nexus answers so when it is asked directly'],
    });
    const other = { ...seat, endpoints: [endpoint('other.member.*.tools')] };
    expect(seen([], [other], [other])).toMatchObject({
      answering: [],
      unexpected: ['node: it serves outside the subjects of this Nexus'],
    });
  });
});
