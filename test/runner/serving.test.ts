import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Msg } from 'nats';
import { connectRunner, type Runner, type RunnerOptions } from '../../src/runner/sdk/runner.js';
import type { CallEndedError, ServedTool, ToolContext } from '../../src/runner/sdk/tool.js';
import { ToolError } from '../../src/runner/sdk/tool.js';
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

/** A tool whose calls end when they are released, or told to stop. */
class Hold {
  readonly contexts: ToolContext[] = [];
  readonly inputs: unknown[] = [];
  private readonly gates: (() => void)[] = [];
  private watch = (): void => undefined;

  readonly tool = tool('hold', (input, context) => {
    this.contexts.push(context);
    this.inputs.push(input);
    this.watch();
    return new Promise((resolve, reject) => {
      this.gates.push(() => resolve('released'));
      context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
    });
  });

  release(): void {
    for (const open of this.gates.splice(0)) open();
  }

  async started(count: number): Promise<void> {
    while (this.contexts.length < count) await new Promise<void>((resolve) => (this.watch = resolve));
  }
}

let server: OwnNatsServer;
let nexus: FakeNexus;
let runners: Runner[];
let logged: { level: string; message: string }[];

beforeAll(async () => {
  server = await OwnNatsServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  nexus = await FakeNexus.start(server.url);
  nexus.pushes = false;
  runners = [];
  logged = [];
});
afterEach(async () => {
  await Promise.all(runners.map((runner) => runner.closeAtOnce()));
  await nexus.close();
});

async function serving(tools: ServedTool[], options: Partial<RunnerOptions> = {}): Promise<Runner> {
  const runner = await connectRunner({
    registration: nexus.registration,
    delivery: 'serve',
    log: (level, message) => logged.push({ level, message }),
    ...options,
  });
  runners.push(runner);
  await runner.announce({ tools });
  return runner;
}

const isCommitted = (reply: Msg): boolean =>
  reply.headers?.get('Nexus-Committed') === 'true' && reply.data.length === 0;

describe('A runner that serves', () => {
  it('announces it, with the number of calls it works on at once', async () => {
    await serving([echo], { maxConcurrent: 7 });
    expect(nexus.announced).toMatchObject({ delivery: 'serve', max_in_flight: 7 });
  });

  it.each<[string, Partial<RunnerOptions['registration']['executor']>, string | null, string | undefined]>([
    ['claims on a bus that Nexus does not manage', {}, null, undefined],
    ['claims as a member of a pool', { kind: 'tool_provider' }, 'creds', undefined],
  ])('%s unless it is told otherwise', async (_, executor, credentials, expected) => {
    const { registration } = nexus;
    const asked = {
      ...registration,
      executor: { ...registration.executor, ...executor },
      bus: { ...registration.bus, credentials },
    };
    const connect = connectRunner({ registration: asked, log: () => undefined });
    if (credentials !== null) return expect(connect).rejects.toThrow('credentials');
    runners.push(await connect);
    await runners[0]?.announce({ tools: [echo] });
    expect(nexus.announced.delivery).toBe(expected);
  });

  it('commits a delivered call by the verb, without claiming it, and replies only that it has', async () => {
    await serving([echo]);
    const task = nexus.accept('echo', { input: { a: 1 } });
    const reply = await nexus.deliver(task);
    expect(await task.committed).toMatchObject({ content: '{"a":1}', claim_token: task.token });
    expect(isCommitted(reply)).toBe(true);
    expect(nexus.count('claim')).toBe(0);
  });

  it('serves its tools before Nexus has heard of them, one subject for each in the queue of their other servers', async () => {
    const reached: Promise<Msg>[] = [];
    nexus.intercept = (verb) => {
      if (verb === 'announce') reached.push(nexus.deliver(nexus.accept('echo')));
      return undefined;
    };
    const runner = await serving([echo, tool('other', () => 'x')]);
    expect(reached.length).toBe(1);
    for (const reply of reached) expect(isCommitted(await reply)).toBe(true);
    const { tool: prefix } = nexus.registration.bus.subjects;
    expect(
      runner.endpoints.map(({ tool: name, subject, queue_group }) => [name, subject, queue_group]),
    ).toEqual([
      ['echo', `${prefix}.echo`, 'q'],
      ['other', `${prefix}.other`, 'q'],
    ]);
  });

  it('serves a tool no more once Nexus has heard that it is gone', async () => {
    const runner = await serving([echo, tool('other', () => 'x')]);
    await runner.announce({ tools: [echo] });
    await expect(nexus.deliver(nexus.accept('other'))).rejects.toMatchObject({ code: '503' });
    expect(isCommitted(await nexus.deliver(nexus.accept('echo')))).toBe(true);
  });

  it('serves on what it served before where an announcement is refused', async () => {
    const runner = await serving([echo]);
    nexus.intercept = (verb) => (verb === 'announce' ? new Refusal('invalid_announcement', 422) : undefined);
    await expect(runner.announce({ tools: [tool('other', () => 'x')] })).rejects.toThrow();
    await expect(nexus.deliver(nexus.accept('other'))).rejects.toMatchObject({ code: '503' });
    expect(isCommitted(await nexus.deliver(nexus.accept('echo')))).toBe(true);
  });

  it('counts each call for STATS when it has ended, with its error', async () => {
    const runner = await serving([echo, tool('fail', () => Promise.reject(new ToolError('no such file')))]);
    await nexus.deliver(nexus.accept('echo'));
    await nexus.deliver(nexus.accept('fail'));
    const stats = runner.endpoints.map((endpoint) => endpoint.stats.toJSON());
    expect(stats).toMatchObject([
      { num_requests: 1, num_errors: 0, last_error: '' },
      { num_requests: 1, num_errors: 1, last_error: 'no such file' },
    ]);
  });

  it('works on a claim once, however often it is delivered', async () => {
    const hold = new Hold();
    const runner = await serving([hold.tool]);
    const task = nexus.accept('hold');
    const first = nexus.deliver(task, 'token-of-the-claim-000000');
    await hold.started(1);
    nexus.deliver(task, 'token-of-the-claim-000000').catch(() => undefined);
    const other = nexus.accept('hold');
    const second = nexus.deliver(other);
    await hold.started(2);
    hold.release();
    await Promise.all([first, second]);
    nexus.deliver(task, 'token-of-the-claim-000000').catch(() => undefined);
    await nexus.deliver(nexus.accept('gone_tool')).catch(() => undefined);
    expect(hold.contexts.length).toBe(2);
    expect(runner.callsUnderWay).toBe(0);
  });

  it('works on no more calls at once than it may: the rest queue inside, and none is lost', async () => {
    const hold = new Hold();
    const runner = await serving([hold.tool], { maxConcurrent: 2 });
    const replies = [1, 2, 3, 4, 5].map((n) => nexus.deliver(nexus.accept('hold', { input: n })));
    await hold.started(2);
    while (runner.callsUnderWay < 5) await new Promise((resolve) => setImmediate(resolve));
    expect(hold.inputs).toEqual([1, 2]);
    hold.release();
    await hold.started(4);
    hold.release();
    await hold.started(5);
    hold.release();
    for (const reply of replies) expect(isCommitted(await reply)).toBe(true);
    expect(hold.inputs).toEqual([1, 2, 3, 4, 5]);
  });

  it('extends a delivered call at half its park', async () => {
    const hold = new Hold();
    await serving([hold.tool]);
    const task = nexus.accept('hold', { timeoutMs: 1_000 });
    const reply = nexus.deliver(task);
    await nexus.until(() => nexus.count('extend') === 2);
    hold.release();
    expect(isCommitted(await reply)).toBe(true);
    expect(await task.committed).toMatchObject({ content: 'released' });
  });

  it('ends a canceled call, and one that was canceled before it was begun', async () => {
    const hold = new Hold();
    await serving([hold.tool], { maxConcurrent: 1 });
    const tasks = [nexus.accept('hold'), nexus.accept('hold')] as const;
    const replies = tasks.map((task) => nexus.deliver(task));
    await hold.started(1);
    for (const task of [...tasks].reverse()) nexus.cancel(task);
    for (const task of tasks) {
      expect(await task.committed).toMatchObject({ outcome: 'failed', content: 'The call was canceled.' });
    }
    for (const reply of replies) expect(isCommitted(await reply)).toBe(true);
    expect(hold.contexts.map(({ signal }) => (signal.reason as CallEndedError).why)).toEqual(['canceled']);
  });

  it('repeats the commit until Nexus acknowledges it, and replies only then', async () => {
    await serving([echo]);
    let refusals = 3;
    nexus.intercept = (verb) =>
      verb === 'commit' && refusals-- > 0 ? new Refusal('unavailable', 503) : undefined;
    const reply = await nexus.deliver(nexus.accept('echo'));
    expect(isCommitted(reply)).toBe(true);
    expect(nexus.count('commit')).toBe(4);
  });

  it('takes a delivered call whose claim by the verb it is just being refused', async () => {
    await serving([echo], { readEveryMs: 20 });
    const task = nexus.accept('echo');
    let reply: Promise<Msg> | undefined;
    nexus.intercept = (verb) => {
      if (verb === 'claim') reply ??= nexus.deliver(task);
      return undefined;
    };
    await task.committed;
    expect(reply && isCommitted(await reply)).toBe(true);
  });

  it('answers only under _INBOX., and a message that is no call not at all', async () => {
    await serving([echo]);
    nexus.publishToTool('echo', '{}', 'somebody.else');
    await nexus.deliver(nexus.accept('echo'));
    expect(logged).toContainEqual({ level: 'warn', message: 'a message that is no call was dropped' });
  });

  it('that closes lets its calls end and takes no more', async () => {
    const hold = new Hold();
    const runner = await serving([hold.tool]);
    const task = nexus.accept('hold');
    const reply = nexus.deliver(task);
    await hold.started(1);
    const closed = runner.close({ graceMs: 5_000 });
    let code: string | undefined;
    while (code !== '503') {
      await nexus.deliver(nexus.accept('hold'), 'x').catch((fault: { code: string }) => (code = fault.code));
    }
    hold.release();
    expect(isCommitted(await reply)).toBe(true);
    await closed;
  });

  it('that is told to stop at once commits every call as failed, those too that were not begun', async () => {
    const hold = new Hold();
    const runner = await serving([hold.tool], { maxConcurrent: 1 });
    const tasks = [nexus.accept('hold'), nexus.accept('hold')];
    for (const task of tasks) nexus.deliver(task).catch(() => undefined);
    await hold.started(1);
    while (runner.callsUnderWay < 2) await new Promise((resolve) => setImmediate(resolve));
    await runner.closeAtOnce();
    for (const task of tasks) expect(await task.committed).toMatchObject({ outcome: 'failed' });
  });

  it('serves nothing while another process speaks for the executor, and everything again after that', async () => {
    const runner = await serving([echo], { beatEveryMs: 20 });
    nexus.intercept = (verb) => (verb === 'describe' ? new Refusal('executor_in_use', 409) : undefined);
    let code: string | undefined;
    while (code !== '503') {
      await nexus.deliver(nexus.accept('echo')).catch((fault: { code: string }) => (code = fault.code));
    }
    expect(runner.endpoints).toEqual([]);
    nexus.intercept = () => undefined;
    await nexus.until(() => nexus.count('announce') === 2);
    while (runner.endpoints.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(isCommitted(await nexus.deliver(nexus.accept('echo')))).toBe(true);
  });

  it('serves on after NATS was restarted', async () => {
    await serving([echo]);
    await server.stop();
    await server.startAgain();
    await nexus.until(() => nexus.count('describe') >= 2);
    expect(isCommitted(await nexus.deliver(nexus.accept('echo')))).toBe(true);
  });
});
