import { Sweep } from '../../src/work/sweep.service.js';
import { secondAccount } from '../discovery/second-account.js';
import { age, prune } from '../retention/stage.js';
import type { BusClient } from '../support/bus-client.js';
import {
  executorOf,
  newAgent,
  newHuman,
  ok,
  onBus,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  withToken,
} from '../support/factories.js';
import type { HttpAnswer, TestNode } from '../support/node.js';
import { pastDeadline, restDoor } from '../work/stage.js';
import type { Actor, Answer, Command, Of } from './command.js';
import type { Step } from './reference-routing.js';
import { inboxOfWire, Names, runOfWire, taskOfWire, tasksNow } from './wire.js';
import {
  type Entry,
  EXECUTORS,
  type ExecutorName,
  type Member,
  MEMBERS,
  PEOPLE,
  PROFILES,
  REGISTRATIONS,
  RULES,
} from './world.js';

type Asked = Pick<HttpAnswer, 'status' | 'body'>;
type OnInbox = Of<'claim' | 'claim_status' | 'extend' | 'commit' | 'progress'>;

export type Nodes = readonly [TestNode, TestNode];

/** How a request goes: through a node's REST door, or over the bus to whichever node takes it. */
export interface Way {
  readonly node: 0 | 1;
  readonly door: 'REST' | 'bus';
}

/**
 * Two real nodes on one database and bus, in an account of its own: does the model's commands through the product's doors,
 * and answers in the model's words. Time does not pass by itself: `expire` moves a deadline, `sweep` looks for what is due.
 */
export class RealWorld {
  private readonly names = new Names();
  private readonly members = new Map<Member, TestMember>();
  /** By epoch, the first at 0. */
  private readonly executors = new Map<ExecutorName, TestExecutor[]>();
  private readonly clients = new Map<string, Promise<BusClient>>();
  private readonly revoked = new Set<ExecutorName>();
  private conversation = '';

  private constructor(
    private readonly nodes: Nodes,
    private readonly account: TestAccount,
  ) {}

  static async create(nodes: Nodes): Promise<RealWorld> {
    const world = new RealWorld(nodes, await secondAccount(nodes[0]));
    for (const name of MEMBERS) await world.addMember(name);
    for (const name of EXECUTORS) await world.register(name, 0);
    const { body } = ok(await world.asMember('ada', 0, 'POST', '/conversations', {}));
    world.conversation = body.conversation.public_id;
    return world;
  }

  async close(): Promise<void> {
    for (const client of this.clients.values()) await (await client).close();
  }

  /** The status and code, and what a success shows of what the model follows. */
  async execute(command: Command, way: Way): Promise<{ outcome: string; body: Answer['body'] }> {
    const { status, body } = await this.ask(command, way);
    const code = body?.error?.code;
    if (code !== undefined) return { outcome: `${status} ${code}`, body: undefined };
    return { outcome: String(status), body: this.shown(command, body) };
  }

  /** What can be seen between two commands, as the model's `observation`. */
  async observation(): Promise<object> {
    const [tasks, ...inboxes] = await Promise.all([
      tasksNow(this.nodes[0], this.account.adminId, this.names),
      ...EXECUTORS.map((name, index) => this.inboxNow(name, index % 2 === 0 ? 0 : 1)),
    ]);
    return { tasks, inboxes: Object.fromEntries(inboxes.flat()) };
  }

  /** With its name; nothing of a revoked one. */
  private async inboxNow(name: ExecutorName, node: 0 | 1): Promise<[ExecutorName, unknown][]> {
    const { status, body } = await restDoor(this.nodes[node], this.latest(name)).ask('inbox', { limit: 200 });
    return status === 401 ? [] : [[name, inboxOfWire(body.tasks, this.names)]];
  }

  private ask(command: Command, way: Way): Promise<Asked> {
    const { node } = way;
    switch (command.verb) {
      case 'create_run':
        return this.createRun(command, node);
      case 'accept':
        return this.accept(command, way);
      case 'read_run':
        return this.asMember(command.by, node, 'GET', this.runPath(command.run));
      case 'stop':
        return this.asMember(command.by, node, 'POST', `${this.runPath(command.run)}/stop`);
      case 'approvals':
        return this.asMember(command.by, node, 'GET', '/approvals?limit=200');
      case 'set_default': {
        const path = `/conversations/${this.conversation}/default_runner`;
        const runner_executor_public_id = this.executorId(command.runner);
        return this.asMember(command.by, node, 'PUT', path, { runner_executor_public_id });
      }
      case 'read_task':
        return this.asMember(command.by, node, 'GET', this.taskPath(command));
      case 'approve':
      case 'deny':
        return this.decide(command, way);
      case 'retry':
      case 'cancel':
        return this.asMember(command.by, node, 'POST', `${this.taskPath(command)}/${command.verb}`);
      case 'announce':
        return this.announce(command, way);
      case 're_pair':
        return this.register(command.executor, node);
      case 'revoke':
        this.revoked.add(command.executor);
        return this.administer(command, node);
      case 'shutdown':
      case 'resume':
        return this.administer(command, node);
      case 'expire':
      case 'age':
      case 'sweep':
      case 'prune':
        return this.letTimePass(command, this.nodes[node]);
      default:
        return this.onInbox(command, way);
    }
  }

  /** The body of a success in the model's words; names what it made. */
  private shown(command: Command, body: Asked['body']): Answer['body'] {
    const task = (wire: unknown) => taskOfWire(wire, this.names);
    switch (command.verb) {
      case 'create_run':
        this.names.add(command.name, body.run.public_id);
        return runOfWire(body.run, this.names);
      case 'read_run':
      case 'stop':
        return runOfWire(body.run, this.names);
      case 'accept':
        return body.tasks.map(task);
      case 'approvals':
        return body.tasks.map(({ task_key }: { task_key: string }) => task_key);
      case 'claim':
      case 'extend':
        return { task: task(body.task), token: tokenName(body.claim.claim_token) };
      case 'claim_status':
        return { active: body.claim.active };
      case 'approve':
      case 'deny':
      case 'retry':
      case 'cancel':
      case 'commit':
      case 'read_task':
        return task(body.task);
      default:
        return undefined;
    }
  }

  /** The administrator decides on either plane. */
  private decide(command: Of<'approve' | 'deny'>, { node, door }: Way): Promise<Asked> {
    const { by, verb } = command;
    const body = verb === 'deny' ? { reason: 'no' } : undefined;
    const path = `${this.taskPath(command)}/${verb}`;
    if (by !== 'root' || door === 'REST') return this.asMember(by, node, 'POST', path, body);
    const { platformToken: token } = this.account;
    return this.nodes[node].http('POST', `/platform_api/v1${path}`, { token, body });
  }

  private administer({ verb, executor }: Of<'revoke' | 'shutdown' | 'resume'>, node: 0 | 1): Promise<Asked> {
    const path = `/platform_api/v1/executors/${this.latest(executor).id}/${verb}`;
    return this.nodes[node].http('POST', path, { token: this.account.platformToken });
  }

  private createRun(command: Of<'create_run'>, node: 0 | 1): Promise<Asked> {
    const { by, runner, inConversation, mode, rules, only, parent } = command;
    const find = { type: 'function', function: { name: 'find', parameters: { type: 'object' } } };
    const runner_executor_public_ids = EXECUTORS.flatMap((name) =>
      REGISTRATIONS[name].kind === 'runner' || name === runner ? this.latest(name).id : [],
    );
    const fresh = {
      ...(inConversation ? { conversation_public_id: this.conversation } : {}),
      ...(runner === undefined ? {} : { default_runner_executor_public_id: this.executorId(runner) }),
      configuration: { runner_executor_public_ids, tool_definitions: [find] },
      approval_rules: RULES[rules],
    };
    const child = { parent_run_public_id: this.names.idOf(parent ?? ''), tool_names: only };
    const body = { ...(parent === undefined ? fresh : child), approval_mode: mode };
    return this.asMember(by, node, 'POST', '/runs', body);
  }

  private async accept({ by, run, steps }: Of<'accept'>, { node, door }: Way): Promise<Asked> {
    const wired = steps.map((step) => this.stepOf(step));
    if (door === 'REST' || wired.length > 1) {
      return this.asMember(by, node, 'POST', `${this.runPath(run)}/tasks`, { steps: wired });
    }
    const member = this.members.get(by) as TestMember;
    const client = await this.client(member.credentialId, () => onBus(member));
    const request = { run_public_id: this.names.idOf(run), step: wired[0], wait_ms: 0 };
    const { status, body } = await client.ask('call', request);
    return status < 300 ? { status: 201, body: { tasks: [body.task] } } : { status, body };
  }

  private stepOf({ kind, name, route, through, key, timeout, path }: Step): object {
    const input = path === undefined ? {} : { path };
    return {
      [kind]: {
        name,
        input: through === undefined ? input : { name: through, input },
        key,
        timeout_ms: timeout,
        route: route && { kind: 'runner', runner_executor_public_id: this.routedId(route) },
      },
    };
  }

  /** Undefined leaves it out. */
  private routedId(route: NonNullable<Step['route']>): string | null | undefined {
    if (route === 'default') return undefined;
    if (route === 'null') return null;
    return route === 'stranger' ? this.names.idOf('a stranger') : this.latest(route).id;
  }

  private async announce({ as, tools }: Of<'announce'>, way: Way): Promise<Asked> {
    const body = { tools: Object.entries(tools).map(([name, entry]) => announced(name, entry)) };
    if (this.isOnBus(as, way)) return (await this.busOf(as)).ask('announce', body);
    const { token } = this.actor(as);
    return this.nodes[way.node].http('PUT', '/agent_api/v1/executor/announcement', { token, body });
  }

  private async onInbox(command: OnInbox, way: Way): Promise<Asked> {
    const { verb, as } = command;
    const named = { run_public_id: this.names.idOf(command.run), task_key: command.key };
    const claimed = { ...named, claim_token: tokenText(command.token) };
    const fields =
      verb === 'progress'
        ? { frame: { ...claimed, text_tail: 'half' } }
        : { ...claimed, ...fieldsOf(command) };
    if (!this.isOnBus(as, way)) {
      return restDoor(this.nodes[way.node], this.actor(as)).ask(verb, fields);
    }
    const { status, body } = await (await this.busOf(as)).ask(verb, fields);
    return { status: verb === 'progress' && status === 200 ? 202 : status, body };
  }

  /** A credential that is not live speaks over REST: a bus that Nexus manages cuts its connection. */
  private isOnBus({ name, epoch }: Actor, { door }: Way): boolean {
    return door === 'bus' && epoch === this.executors.get(name)?.length && !this.revoked.has(name);
  }

  private async letTimePass(
    command: Of<'expire' | 'age' | 'sweep' | 'prune'>,
    node: TestNode,
  ): Promise<Asked> {
    if (command.verb === 'expire') {
      await pastDeadline(node, { run_public_id: this.names.idOf(command.run), task_key: command.key });
    } else if (command.verb === 'age') await age(node, this.names.idOf(command.run), 100);
    else if (command.verb === 'prune') await prune(node, this.account);
    else while (await node.app.get(Sweep).isMoreDue());
    return { status: 200, body: {} };
  }

  private asMember(
    by: Member,
    node: 0 | 1,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<HttpAnswer> {
    const { token } = this.members.get(by) as TestMember;
    return this.nodes[node].http(method, `/agent_api/v1${path}`, { token, body });
  }

  private async addMember(name: Member): Promise<void> {
    const { kind, isAdmin, steward, floor, rules } = PEOPLE[name];
    const [node] = this.nodes;
    const made =
      isAdmin === true
        ? await withToken(node, this.account, this.account.adminId)
        : kind === 'human'
          ? await newHuman(node, this.account)
          : await newAgent(node, this.account, {
              steward_public_id: this.members.get(steward as Member)?.id,
              approval_floor: floor,
              approval_rules: rules ?? [],
            });
    this.members.set(name, made);
    this.names.add(name, made.id);
  }

  /** Registers it, or pairs it again. */
  private async register(name: ExecutorName, node: 0 | 1): Promise<Asked> {
    const { kind, manager, isPrivate, agent } = REGISTRATIONS[name];
    const owner =
      agent === undefined
        ? { manager_public_id: this.members.get(manager)?.id, registration_identifier: name }
        : { agent_public_id: this.members.get(agent)?.id };
    const answer = await this.nodes[node].http('POST', '/platform_api/v1/executors', {
      token: this.account.platformToken,
      body: {
        kind,
        display_name: name,
        assignment_scope: isPrivate ? 'user_private' : 'account_wide',
        ...owner,
      },
    });
    const executor = executorOf(ok(answer));
    const epochs = this.executors.get(name) ?? [];
    epochs[executor.epoch - 1] = executor;
    this.executors.set(name, epochs);
    this.names.add(name, executor.id);
    return { status: 200, body: {} };
  }

  private runPath(run: string): string {
    return `/runs/${this.names.idOf(run)}`;
  }

  private taskPath({ run, key }: { run: string; key: string }): string {
    return `${this.runPath(run)}/tasks/${key}`;
  }

  private executorId(name: ExecutorName | null): string | null {
    return name && this.latest(name).id;
  }

  private latest(name: ExecutorName): TestExecutor {
    return this.executors.get(name)?.at(-1) as TestExecutor;
  }

  private actor({ name, epoch }: Actor): TestExecutor {
    return this.executors.get(name)?.[epoch - 1] as TestExecutor;
  }

  private busOf(actor: Actor): Promise<BusClient> {
    const executor = this.actor(actor);
    return this.client(`${executor.id}/${actor.epoch}`, () => onBus(executor));
  }

  private client(key: string, open: () => Promise<BusClient>): Promise<BusClient> {
    const known = this.clients.get(key) ?? open();
    this.clients.set(key, known);
    return known;
  }
}

const PADDING = '-a-token-of-the-model-test';
const tokenText = (name: string): string => `${name}${PADDING}`;
const tokenName = (text: string): string => text.slice(0, -PADDING.length);

const announced = (name: string, { profile, isDescribed, words, timeout }: Entry): object => ({
  name,
  effect_profile: PROFILES[profile],
  ...(isDescribed ? { description: `Words ${words}`, input_schema: { type: 'object' } } : {}),
  ...(timeout === undefined ? {} : { timeout_ms: timeout }),
});

/** What a verb brings beside the claim. */
function fieldsOf(command: OnInbox): object {
  if (command.verb === 'extend') return { timeout_ms: command.timeout };
  if (command.verb !== 'commit') return {};
  const { result, checkpoint } = command;
  return {
    content: result === 'unstorable' ? '\u0000' : 'done',
    ...(result === 'failed' ? { outcome: 'failed' } : {}),
    ...(result === 'is_error' ? { is_error: true } : {}),
    ...(result === 'bad' ? { title: 'x'.repeat(257) } : {}),
    ...(checkpoint === undefined ? {} : { metadata: { checkpoint } }),
  };
}
