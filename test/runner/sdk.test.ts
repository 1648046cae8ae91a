import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connect, headers } from 'nats';
import { RefusedError } from '../../src/runner/sdk/refused-error.js';
import { connectRunner, type Runner, type RunnerOptions } from '../../src/runner/sdk/runner.js';
import {
  type CallEndedError,
  type ServedTool,
  type ToolContext,
  ToolError,
} from '../../src/runner/sdk/tool.js';
import { FakeNexus, Refusal } from './fake-nexus.js';
import { OwnNatsServer } from './own-nats-server.js';

const READ_ONLY = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
} as const;

const tool = (name: string, handler: ServedTool['handler']): ServedTool => ({
  name,
  effect_profile: READ_ONLY,
  handler,
});
const echo = tool('echo', (input) => JSON.stringify(input));

/** A handler that ends when it is told to, or released. */
function held(): {
  tool: ServedTool;
  contexts: ToolContext[];
  release(): void;
  whenStarted(count: number): Promise<void>;
} {
  const contexts: ToolContext[] = [];
  const gates: (() => void)[] = [];
  let watch = (): void => undefined;
  return {
    contexts,
    tool: tool('hold', (_, context) => {
      contexts.push(context);
      watch();
      return new Promise((resolve, reject) => {
        gates.push(() => resolve('released'));
        context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
      });
    }),
    release: () => gates.splice(0).forEach((open) => open()),
    whenStarted: async (count) => {
      while (contexts.length < count) await new Promise<void>((resolve) => (watch = resolve));
    },
  };
}

let server: OwnNatsServer;
let nexus: FakeNexus;
let runners: Runner[];
let logged: { level: string; message: string; fields?: object }[];

beforeAll(async () => {
  server = await OwnNatsServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  nexus = await FakeNexus.start(server.url);
  runners = [];
  logged = [];
});
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.closeAtOnce()));
  await nexus.close();
});

async function connected(options: Partial<RunnerOptions> = {}): Promise<Runner> {
  const runner = await connectRunner({
    registration: nexus.registration,
    log: (level, message, fields) => logged.push({ level, message, ...(fields && { fields }) }),
    ...options,
  });
  runners.push(runner);
  return runner;
}

async function serving(tools: ServedTool[], options: Partial<RunnerOptions> = {}): Promise<Runner> {
  const runner = await connected(options);
  await runner.announce({ tools });
  return runner;
}

describe('A runner', () => {
  it('describes itself with an incarnation id, announces without its handlers, and proves who it is in every message', async () => {
    const runner = await connected();
    await runner.announce({
      tools: [echo],
      environment: { os: 'linux' },
      documents: [{ name: 'a', description: 'A' }],
    });
    expect(nexus.announced).toEqual({
      tools: [{ name: 'echo', effect_profile: READ_ONLY }],
      environment: { os: 'linux' },
      documents: [{ name: 'a', description: 'A' }],
    });
    expect(nexus.asked[0]).toMatchObject({
      verb: 'describe',
      body: { incarnation_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(new Set(nexus.asked.map(({ authorization }) => authorization))).toEqual(
      new Set([`Bearer ${nexus.registration.secret}`]),
    );
  });

  it('claims a pushed task with a token of its own, without reading the inbox for it, and commits what the handler returns', async () => {
    await serving([echo]);
    await nexus.until(() => nexus.count('inbox') === 1);
    const task = nexus.accept('echo', { input: { a: 1 } });
    expect(await task.committed).toMatchObject({ content: '{"a":1}', claim_token: task.token });
    expect(task.token).toMatch(/^[A-Za-z0-9_-]{22,128}$/);
    expect(nexus.count('inbox')).toBe(1);
  });

  it('commits each part of a result by its name, and a committed null as null', async () => {
    const parts = {
      content: [{ type: 'text', text: 'x' }],
      structured_content: null,
      title: 't',
      metadata: { checkpoint: null },
    };
    await serving([tool('parts', () => parts)]);
    expect(await nexus.accept('parts').committed).toMatchObject(parts);
  });

  it('tells a tool that reports an error from a call that could not be run', async () => {
    const throwing = (name: string, fault: Error): ServedTool => tool(name, () => Promise.reject(fault));
    await serving([
      throwing('reports', new ToolError('no such file')),
      throwing('breaks', new Error('disk on fire')),
    ]);
    const reported = await nexus.accept('reports').committed;
    expect(reported).toMatchObject({ content: 'no such file', is_error: true });
    expect(reported).not.toHaveProperty('outcome');
    const failed = await nexus.accept('breaks').committed;
    expect(failed).toMatchObject({ content: 'disk on fire', outcome: 'failed' });
    expect(failed).not.toHaveProperty('is_error');
  });

  it('commits a checkpoint beside whatever becomes of the call, and metadata that is returned before it', async () => {
    const checkpoint = { id: 1 };
    const keeping = (name: string, handler: ServedTool['handler']): ServedTool =>
      tool(name, (input, context) => {
        context.checkpoint(checkpoint);
        return handler(input, context);
      });
    const hold = held();
    await serving([
      keeping('returns', () => ({ content: 'x', metadata: { other: 2 } })),
      keeping('returns_one', () => ({ metadata: { checkpoint: null } })),
      keeping('reports', () => Promise.reject(new ToolError('no such file'))),
      keeping('breaks', () => Promise.reject(new Error('disk on fire'))),
      keeping('hold', hold.tool.handler),
    ]);
    const metadataOf = async (name: string): Promise<unknown> =>
      ((await nexus.accept(name).committed) as { metadata: unknown }).metadata;
    expect(await metadataOf('returns')).toEqual({ checkpoint, other: 2 });
    expect(await metadataOf('returns_one')).toEqual({ checkpoint: null });
    expect(await metadataOf('reports')).toEqual({ checkpoint });
    expect(await metadataOf('breaks')).toEqual({ checkpoint });
    const task = nexus.accept('hold');
    await hold.whenStarted(1);
    nexus.cancel(task);
    expect(await task.committed).toMatchObject({ outcome: 'failed', metadata: { checkpoint } });
  });

  it('on a bus that Nexus does not manage carries out nothing that is sent to it, whoever sends it', async () => {
    await serving([echo]);
    const stranger = await connect({ servers: server.url });
    const { tool: prefix } = nexus.registration.bus.subjects;
    const head = headers();
    for (const name of ['Nexus-Run', 'Nexus-Task', 'Nexus-Claim-Token']) head.set(name, 'forged');
    head.set('Nexus-Timeout-Ms', '60000');
    const answer = await stranger.request(`${prefix}.echo`, '{}', { timeout: 5_000, headers: head });
    expect(answer.headers?.get('Nats-Service-Error')).toBe('only Nexus sends calls');
    expect(nexus.count('commit')).toBe(0);
    const stats = await stranger.request(`$SRV.STATS.tools.${nexus.registration.executor.public_id}`);
    expect(stats.json()).toMatchObject({
      endpoints: [
        {
          name: 'echo',
          subject: `${prefix}.echo`,
          num_requests: 1,
          num_errors: 1,
          last_error: 'only Nexus sends calls',
        },
      ],
    });
    await stranger.close();
  });

  it('commits a call of a tool it does not serve as failed', async () => {
    await serving([echo]);
    expect(await nexus.accept('gone').committed).toMatchObject({
      outcome: 'failed',
      content: 'This runner does not serve gone.',
    });
  });

  it('reads the inbox whole when it begins: what waits without a push is taken, pages and all', async () => {
    nexus.pushes = false;
    const tasks = Array.from({ length: 450 }, (_, n) => nexus.accept('echo', { input: n }));
    await serving([echo]);
    await Promise.all(tasks.map(({ committed }) => committed));
    expect(nexus.count('claim')).toBe(450);
  });

  it('takes each of more tasks than it remembers, once', async () => {
    await serving([echo]);
    const tasks = Array.from({ length: 2_500 }, (_, n) => nexus.accept('echo', { input: n }));
    await Promise.all(tasks.map(({ committed }) => committed));
    expect(nexus.count('commit')).toBe(2_500);
  });

  it('reads the inbox again from time to time: a lost push loses nothing', async () => {
    await serving([echo], { readEveryMs: 50 });
    await nexus.until(() => nexus.count('inbox') >= 1);
    nexus.pushes = false;
    await nexus.accept('echo').committed;
  });

  it('ignores pushes it cannot understand', async () => {
    await serving([echo]);
    for (const fields of [
      { event: 'other' },
      { event: 'work_available', kind: 'approval', tool_name: 'x' },
      {},
    ]) {
      nexus.push({ run: 'r', key: 'k' }, fields);
    }
    await nexus.accept('echo').committed;
    expect(nexus.count('claim')).toBe(1);
  });

  it('works on no more calls at once than it may', async () => {
    const hold = held();
    await serving([hold.tool], { maxConcurrent: 2 });
    const tasks = [1, 2, 3, 4, 5].map(() => nexus.accept('hold'));
    await hold.whenStarted(2);
    expect(nexus.count('claim')).toBe(2);
    hold.release();
    await hold.whenStarted(4);
    expect(nexus.count('claim')).toBe(4);
    hold.release();
    await hold.whenStarted(5);
    hold.release();
    await Promise.all(tasks.map(({ committed }) => committed));
  });
});

describe('A lost message', () => {
  it('of a claim costs nothing: the claim is repeated with the same token', async () => {
    await serving([echo]);
    nexus.losing.push('claim');
    const task = nexus.accept('echo');
    await nexus.until(() => nexus.count('claim') === 1);
    await restartServer();
    await task.committed;
    const tokens = nexus.asked
      .filter(({ verb }) => verb === 'claim')
      .map(({ body }) => body.claim_token as string);
    expect(tokens.length).toBeGreaterThan(1);
    expect(new Set(tokens).size).toBe(1);
  });

  it('of a commit is repeated until it is acknowledged, byte for byte', async () => {
    const runner = await serving([echo]);
    nexus.losing.push('commit');
    const task = nexus.accept('echo');
    await task.committed;
    await restartServer();
    await nexus.until(() => nexus.count('commit') >= 2);
    const commits = nexus.asked
      .filter(({ verb }) => verb === 'commit')
      .map(({ body }) => JSON.stringify(body));
    expect(new Set(commits).size).toBe(1);
    await until(() => runner.callsUnderWay === 0);
  });

  it('is not waited for: a Nexus that is unavailable for a moment is asked again', async () => {
    await serving([echo]);
    let refusals = 3;
    nexus.intercept = (verb) =>
      verb === 'commit' && refusals-- > 0 ? new Refusal('unavailable', 503) : undefined;
    await nexus.accept('echo').committed;
    expect(nexus.count('commit')).toBe(4);
  });

  it('does not end a runner: it works on after NATS was restarted, and takes what came meanwhile', async () => {
    const hold = held();
    await serving([echo, hold.tool]);
    const under = nexus.accept('hold');
    await hold.whenStarted(1);
    await server.stop();
    const meanwhile = nexus.accept('echo');
    hold.release();
    await server.startAgain();
    await Promise.all([under.committed, meanwhile.committed]);
    expect(logged.map(({ message }) => message)).toEqual(
      expect.arrayContaining([
        'the connection to NATS is lost; reconnecting',
        'the connection to NATS is back',
      ]),
    );
  });
});

describe('A claim', () => {
  it('is extended at half the park while the handler works, by remaining time and never by the clock', async () => {
    const hold = held();
    await serving([hold.tool]);
    const task = nexus.accept('hold', { timeoutMs: 2_000 });
    const started = Date.now();
    await nexus.until(() => nexus.count('extend') === 3);
    expect(Date.now() - started).toBeGreaterThan(2_950);
    expect(nexus.asked.find(({ verb }) => verb === 'extend')?.body).toMatchObject({
      timeout_ms: 2_000,
      claim_token: task.token,
    });
    expect(hold.contexts[0]?.signal.aborted).toBe(false);
    const left = (hold.contexts[0]?.deadlineAt.getTime() ?? 0) - Date.now();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(2_000);
    hold.release();
    expect(await task.committed).toMatchObject({ content: 'released' });
  });

  it('that is canceled aborts the handler, whose last word is still committed', async () => {
    const hold = held();
    await serving([hold.tool]);
    const task = nexus.accept('hold');
    await hold.whenStarted(1);
    nexus.cancel(task);
    expect(await task.committed).toMatchObject({ outcome: 'failed', content: 'The call was canceled.' });
    expect((hold.contexts[0]?.signal.reason as CallEndedError).why).toBe('canceled');
  });

  it('that was canceled by a push that was lost is found out at the next extension', async () => {
    const hold = held();
    await serving([hold.tool]);
    const task = nexus.accept('hold', { timeoutMs: 2_000 });
    await hold.whenStarted(1);
    nexus.cancel(task, { pushed: false });
    await task.committed;
    expect((hold.contexts[0]?.signal.reason as CallEndedError).why).toBe('claim_lost');
  });

  it('that was canceled by a push that was lost is found out when the inbox is read', async () => {
    const hold = held();
    await serving([hold.tool], { readEveryMs: 60 });
    const task = nexus.accept('hold');
    await hold.whenStarted(1);
    nexus.cancel(task, { pushed: false });
    await task.committed;
    expect((hold.contexts[0]?.signal.reason as CallEndedError).why).toBe('canceled');
  });

  it('that cannot be extended ends at its deadline', async () => {
    const hold = held();
    await serving([hold.tool]);
    nexus.intercept = (verb) => (verb === 'extend' ? new Refusal('unavailable', 503) : undefined);
    const task = nexus.accept('hold', { timeoutMs: 300 });
    await task.committed;
    expect((hold.contexts[0]?.signal.reason as CallEndedError).why).toBe('deadline_passed');
  });

  it('shows its progress, the latest frame of each 250 ms', async () => {
    await serving([
      tool('slow', async (_, context) => {
        for (let n = 0; n < 50; n += 1) {
          context.progress({ text_tail: `line ${n}` });
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      }),
    ]);
    const started = performance.now();
    const task = nexus.accept('slow');
    await task.committed;
    const elapsed = performance.now() - started;
    const frames = nexus.asked.filter(({ verb }) => verb === 'progress').map(({ body }) => body.frame);
    expect(frames.length).toBeGreaterThanOrEqual(2);
    expect(frames.length).toBeLessThanOrEqual(elapsed / 250 + 1);
    expect(frames[0]).toMatchObject({ run_public_id: task.run, task_key: task.key, claim_token: task.token });
  });
});

describe('A result', () => {
  it('that Nexus refuses is replaced by one that says so: the tool did run, and its checkpoint stays evidence', async () => {
    await serving([tool('big', () => ({ content: 'x', metadata: { checkpoint: 7 } }))]);
    nexus.intercept = (verb, body) =>
      verb === 'commit' && body.content === 'x'
        ? new Refusal('result_too_large', 422, 'content is larger than 768 KiB')
        : undefined;
    expect(await nexus.accept('big').committed).toMatchObject({
      is_error: true,
      content: 'The tool ran, but its result could not be delivered: content is larger than 768 KiB',
      metadata: { checkpoint: 7 },
    });
  });

  it.each([
    ['too large for the bus', () => 'x'.repeat(1024 * 1024), 'larger than 1048576 bytes'],
    ['no JSON', () => ({ structured_content: 1n }), 'BigInt'],
  ])('that is %s is replaced too', async (_, handler, words) => {
    await serving([tool('odd', handler)]);
    expect(await nexus.accept('odd').committed).toMatchObject({
      is_error: true,
      content: expect.stringContaining(words),
    });
  });

  it('that no longer belongs to the claim is given up, and named in the log', async () => {
    const runner = await serving([echo]);
    nexus.intercept = (verb) => (verb === 'commit' ? new Refusal('stale_claim', 409) : undefined);
    const task = nexus.accept('echo');
    await nexus.until(() => nexus.count('commit') === 1);
    await until(() => runner.callsUnderWay === 0);
    expect(logged).toContainEqual({
      level: 'error',
      message: 'the result of a call could not be delivered: stale_claim',
      fields: { run_public_id: task.run, task_key: task.key, tool_name: 'echo' },
    });
  });
});

describe('An announcement', () => {
  it('with faults is refused whole, or announced without the faulty entries', async () => {
    const details = [{ path: 'tools[1].name', message: 'tools[1].name must match …' }];
    nexus.intercept = (verb, body) =>
      verb === 'announce' && body.tools.length > 1
        ? new Refusal('invalid_announcement', 422, 'no', details)
        : undefined;
    const runner = await connected();
    const tools = [echo, tool('bad name', () => '')];
    await expect(runner.announce({ tools })).rejects.toMatchObject({
      code: 'invalid_announcement',
      status: 422,
      details,
    });
    expect(await runner.announce({ tools }, { onInvalid: 'drop' })).toEqual([
      { list: 'tools', name: 'bad name', faults: ['tools[1].name must match …'] },
    ]);
    expect(nexus.announced.tools).toEqual([{ name: 'echo', effect_profile: READ_ONLY }]);
    await nexus.accept('echo').committed;
  });

  it('replaces the one before it', async () => {
    const runner = await serving([echo]);
    await runner.announce({ tools: [tool('other', () => 'other')] });
    expect(await nexus.accept('other').committed).toMatchObject({ content: 'other' });
    expect(await nexus.accept('echo').committed).toMatchObject({ outcome: 'failed' });
  });
});

describe('Two processes with one identity', () => {
  it('take turns: the second waits, saying so, and begins when the first has left', async () => {
    const seat = takeTurns(nexus);
    const first = await serving([echo], { beatEveryMs: 50 });
    const second = connected({ beatEveryMs: 50 });
    await nexus.until(() => seat.refused > 1);
    expect(logged.filter(({ message }) => message.includes('waiting for its turn'))).toHaveLength(1);
    await first.close();
    await second;
    expect(logged.map(({ message }) => message)).toContain('it is this process’s turn now');
  });

  it('never both claim: who lost its turn stops, and announces again when it has its turn back', async () => {
    const seat = takeTurns(nexus);
    await serving([echo], { beatEveryMs: 30 });
    const { holder } = seat;
    seat.holder = 'somebody else';
    await until(() => logged.some(({ message }) => message.includes('waiting for its turn')));
    const task = nexus.accept('echo');
    const { refused } = seat;
    await nexus.until(() => seat.refused > refused + 1);
    expect(nexus.count('claim')).toBe(0);
    seat.holder = holder;
    await task.committed;
    expect(nexus.count('announce')).toBe(2);
  });

  it('end when the secret is no longer good', async () => {
    const runner = await serving([echo], { beatEveryMs: 20 });
    nexus.intercept = () => new Refusal('unauthorized', 401);
    expect(await runner.ended).toMatchObject({ code: 'unauthorized' });
  });

  it('are told at once that the secret is not good', async () => {
    nexus.intercept = () => new Refusal('unauthorized', 401);
    await expect(connected()).rejects.toBeInstanceOf(RefusedError);
  });

  it('may give up waiting', async () => {
    nexus.intercept = () => new Refusal('executor_in_use', 409);
    const patience = new AbortController();
    const waiting = connected({ signal: patience.signal });
    await nexus.until(() => nexus.count('describe') === 1);
    patience.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});

describe('A clean shutdown', () => {
  it('claims nothing more, waits for the calls under way, and leaves its place', async () => {
    const hold = held();
    const runner = await serving([hold.tool, echo]);
    const under = nexus.accept('hold');
    await hold.whenStarted(1);
    const closed = runner.close({ graceMs: 10_000 });
    nexus.accept('echo');
    hold.release();
    expect(await under.committed).toMatchObject({ content: 'released' });
    await closed;
    expect(nexus.count('claim')).toBe(1);
    expect(nexus.asked.at(-1)).toMatchObject({ verb: 'describe', body: { leaving: true } });
    expect(await runner.ended).toBeUndefined();
  });

  it('commits as failed, saying so, what has not ended when the grace is over', async () => {
    const hold = held();
    const runner = await serving([hold.tool]);
    const under = nexus.accept('hold');
    await hold.whenStarted(1);
    await runner.close({ graceMs: 50 });
    expect(under.settled).toMatchObject({
      outcome: 'failed',
      content: expect.stringContaining('The runner was stopped'),
    });
  });

  it('does not wait for ever for a handler that does not stop', async () => {
    let started!: () => void;
    const underWay = new Promise<void>((resolve) => (started = resolve));
    const deaf = tool('deaf', () => {
      started();
      return new Promise<string>(() => undefined);
    });
    const runner = await serving([deaf]);
    const task = nexus.accept('deaf');
    await underWay;
    await runner.closeAtOnce();
    expect(task.settled).toMatchObject({
      outcome: 'failed',
      content: expect.stringContaining('did not stop in time'),
    });
  });

  it('names in the log a result that nobody acknowledged', async () => {
    const runner = await serving([echo]);
    nexus.intercept = (verb) => (verb === 'commit' ? new Refusal('unavailable', 503) : undefined);
    const task = nexus.accept('echo');
    await nexus.until(() => nexus.count('commit') > 0);
    await runner.close({ graceMs: 10 });
    expect(logged).toContainEqual({
      level: 'error',
      message: 'the result of a call could not be delivered: the runner closed before Nexus acknowledged it',
      fields: { run_public_id: task.run, task_key: task.key, tool_name: 'echo' },
    });
  });
});

/** Guards the executor as chapter 1 says, without the 12 s. */
function takeTurns(guarded: FakeNexus): { holder: string | undefined; refused: number } {
  const seat = { holder: undefined as string | undefined, refused: 0 };
  guarded.intercept = (verb, body) => {
    if (verb !== 'describe') return undefined;
    seat.holder ??= body.incarnation_id as string;
    if (seat.holder !== body.incarnation_id) {
      seat.refused += 1;
      return new Refusal('executor_in_use', 409);
    }
    if (body.leaving) seat.holder = undefined;
    return undefined;
  };
  return seat;
}

async function restartServer(): Promise<void> {
  await server.stop();
  await server.startAgain();
}

/** For what is seen in no message: looks again each 5 ms. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
