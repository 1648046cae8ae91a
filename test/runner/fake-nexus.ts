import { randomUUID } from 'node:crypto';
import { connect, headers, type Msg, type NatsConnection } from 'nats';
import type { Registration } from '../../src/runner/sdk/registration.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects, and fails where it is not
type Body = any;

interface FakeTask {
  readonly run: string;
  readonly key: string;
  readonly tool: string;
  readonly input: unknown;
  readonly timeoutMs: number;
  token?: string;
  deadline: number;
  settled?: Body;
  /** Resolves with the commit that settled it. */
  readonly committed: Promise<Body>;
  settle(commit: Body): void;
}

/**
 * A stand-in for Nexus on the bus that keeps the rules of chapter 6 a runner depends on, and can lose answers. What a
 * real Nexus does is tested with a real one; this shows the runner what a network can do to it.
 */
export class FakeNexus {
  readonly registration: Registration;
  readonly tasks = new Map<string, FakeTask>();
  readonly asked: { verb: string; body: Body; authorization: string }[] = [];
  /** Called for each request before it is carried out; an answer given here is given instead. */
  intercept: (verb: string, body: Body) => Refusal | undefined = () => undefined;
  /** Verbs whose next answers are lost after the request was carried out. */
  readonly losing: string[] = [];
  announced: Body;
  pushes = true;
  private readonly watchers = new Set<() => void>();

  private constructor(
    private readonly connection: NatsConnection,
    server: string,
  ) {
    const id = randomUUID();
    this.registration = {
      executor: {
        public_id: id,
        kind: 'runner',
        credential_epoch: 1,
        modules: ['tools'],
        machine: 'build-box',
        assignment_scope: 'account_wide',
      },
      secret: `nxe_${randomUUID()}_${'s'.repeat(43)}`,
      bus: {
        servers: [server],
        credentials: null,
        subjects: {
          executor: `nexus.v1.executor.${id}.1`,
          work: `nexus.v1.work.${id}.1`,
          tool: `nexus.v1.tool.${id}.1`,
          inbox_prefix: `_INBOX.${id}-1`,
        },
      },
    };
  }

  static async start(server: string): Promise<FakeNexus> {
    const connection = await connect({
      servers: server,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 50,
      noAsyncTraces: true,
    });
    const nexus = new FakeNexus(connection, server);
    connection.subscribe(`${nexus.registration.bus.subjects.executor}.*`, {
      callback: (_, message) => nexus.answer(message),
    });
    await connection.flush();
    return nexus;
  }

  /** Accepts one call, and pushes it unless `pushes` is off. */
  accept(
    tool: string,
    {
      input = {},
      timeoutMs = 60_000,
      pushed = this.pushes,
    }: { input?: unknown; timeoutMs?: number; pushed?: boolean } = {},
  ): FakeTask {
    let settle!: (commit: Body) => void;
    const committed = new Promise<Body>((resolve) => (settle = resolve));
    const task: FakeTask = {
      run: randomUUID(),
      key: `k${this.tasks.size}`,
      tool,
      input,
      timeoutMs,
      deadline: Date.now() + timeoutMs,
      committed,
      settle: (commit) => {
        task.settled ??= commit;
        settle(commit);
      },
    };
    this.tasks.set(`${task.run} ${task.key}`, task);
    if (pushed) this.push(task, { event: 'work_available', kind: 'tool_call', tool_name: tool });
    return task;
  }

  /**
   * Claims a task for the runner and sends it to its tool's own subject. Resolves with the reply; throws the 503 of NATS where
   * nobody listens. `token` is that of an earlier delivery, which comes again.
   */
  deliver(task: FakeTask, token: string = randomUUID()): Promise<Msg> {
    task.token = token;
    task.deadline = Date.now() + task.timeoutMs;
    const head = headers();
    head.set('Nexus-Run', task.run);
    head.set('Nexus-Task', task.key);
    head.set('Nexus-Claim-Token', token);
    head.set('Nexus-Timeout-Ms', String(task.timeoutMs));
    const subject = `${this.registration.bus.subjects.tool}.${task.tool}`;
    return this.connection.request(subject, JSON.stringify(task.input), { headers: head, timeout: 10_000 });
  }

  /** Sends what is no delivery, and asks for an answer at `reply`. */
  publishToTool(tool: string, payload: string, reply: string): void {
    this.connection.publish(`${this.registration.bus.subjects.tool}.${tool}`, payload, { reply });
  }

  /** Settles a task as canceled, and tells the claimant unless the push is lost. */
  cancel(task: FakeTask, { pushed = true } = {}): void {
    task.settled = { status: 'canceled' };
    if (pushed) this.push(task, { event: 'work_canceled' });
  }

  push(task: Pick<FakeTask, 'run' | 'key'>, fields: object): void {
    const { work } = this.registration.bus.subjects;
    this.connection.publish(work, JSON.stringify({ ...fields, run_public_id: task.run, task_key: task.key }));
  }

  count(verb: string): number {
    return this.asked.filter((request) => request.verb === verb).length;
  }

  /** Resolves when `holds` does, looked at after each request. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.watchers.add(resolve));
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  private answer(message: Msg): void {
    const verb = message.subject.split('.').at(-1) as string;
    const body = message.json<Body>();
    this.asked.push({ verb, body, authorization: message.headers?.get('Authorization') ?? '' });
    const outcome = this.intercept(verb, body) ?? this.carryOut(verb, body);
    const lost = this.losing.indexOf(verb);
    if (lost >= 0) this.losing.splice(lost, 1);
    else if (outcome instanceof Refusal) {
      const head = headers();
      head.set('Nats-Service-Error', outcome.code);
      head.set('Nats-Service-Error-Code', String(outcome.status));
      message.respond(JSON.stringify({ error: { ...outcome } }), { headers: head });
    } else message.respond(JSON.stringify(outcome));
    for (const wake of [...this.watchers]) {
      this.watchers.delete(wake);
      wake();
    }
  }

  private carryOut(verb: string, body: Body): object {
    if (verb === 'announce') this.announced = body;
    if (verb === 'describe' || verb === 'announce')
      return { executor: {}, measured_at: new Date().toISOString() };
    if (verb === 'progress') return {};
    if (verb === 'inbox') return this.page(body.after, body.limit);
    const task = this.tasks.get(`${body.run_public_id} ${body.task_key}`);
    if (!task) return new Refusal('not_found', 404);
    if (verb === 'claim') {
      if (task.token === body.claim_token) return claimed(task);
      if (task.settled) return new Refusal('task_not_claimable', 409);
      if (task.token) return new Refusal('already_claimed', 409);
      task.token = body.claim_token as string;
      task.deadline = Date.now() + task.timeoutMs;
      return claimed(task);
    }
    if (task.token !== body.claim_token)
      return new Refusal(verb === 'commit' ? 'stale_claim' : 'not_claimant', 409);
    if (verb === 'claim_status') return { claim: { active: !task.settled && Date.now() < task.deadline } };
    if (verb === 'extend') {
      if (task.settled || Date.now() >= task.deadline) return new Refusal('not_extendable', 409);
      task.deadline = Date.now() + (body.timeout_ms as number);
      return claimed(task);
    }
    task.settle(body);
    return { task: { status: task.settled.status ?? body.outcome ?? 'completed' } };
  }

  private page(after = 0, limit = 50): object {
    // Keyset, as Nexus pages: what is settled meanwhile does not shift a page.
    const open = [...this.tasks.values()]
      .map((task, seq) => ({ task, seq: seq + 1 }))
      .filter(({ task }) => !task.settled);
    const page = open.filter(({ seq }) => seq > after).slice(0, limit);
    const rows = page.map(({ task }) => ({
      kind: 'tool_call',
      run_public_id: task.run,
      task_key: task.key,
      tool_name: task.tool,
      claimed: task.token !== undefined,
    }));
    const last = page.at(-1)?.seq ?? 0;
    return {
      tasks: rows,
      pagination: { next_after: open.some(({ seq }) => seq > last) && last > 0 ? last : null },
    };
  }
}

export class Refusal {
  constructor(
    readonly code: string,
    readonly status: number,
    readonly message: string = code,
    readonly details?: unknown,
  ) {}
}

const claimed = (task: FakeTask): object => ({
  task: {
    run_public_id: task.run,
    task_key: task.key,
    tool_name: task.tool,
    tool_input: task.input,
    timeout_ms: task.timeoutMs,
    status: 'dispatched',
  },
  // An hour off: a runner that trusted the clocks would give up at once.
  claim: { claim_token: task.token, deadline_at: new Date(task.deadline - 3_600_000).toISOString() },
});
