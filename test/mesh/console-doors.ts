import { callStep } from '../routing/stage.js';
import { type BusClient } from '../support/bus-client.js';
import { newRun, ok, onBus, type TestMember } from '../support/factories.js';
import type { TestNode } from '../support/node.js';
import { parked, taskNow } from '../work/stage.js';

type Asked = Readonly<Record<string, unknown>>;

/** What a door answered: the body, or the code of the refusal. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects, and fails where it is not
type Answer = any;

export type Reading = 'machines' | 'services' | 'tools' | 'describe';

/** One member at one of the console's doors. */
export interface ConsoleDoor {
  readonly name: 'REST' | 'bus' | 'model';
  /** `{code}` where it was refused. */
  ask(verb: Reading, asked?: Asked): Promise<Answer>;
  close(): Promise<void>;
}

export const KERNEL_TOOLS = ['machines', 'services', 'tools', 'describe', 'call'].map(
  (verb) => `nexus.console.${verb}`,
);

/** A run of the member whose model sees the five tools, and nothing else. */
export const consoleRun = (node: TestNode, member: TestMember, fields: object = {}): Promise<string> =>
  newRun(node, member, null, { configuration: { kernel_tools: KERNEL_TOOLS }, ...fields });

/** The three doors of the console, of one member. */
export async function consoleDoors(node: TestNode, member: TestMember): Promise<ConsoleDoor[]> {
  const bus = await onBus(member);
  const run = await consoleRun(node, member);
  return [restConsole(node, member), busConsole(bus), modelConsole(node, member, run)];
}

function restConsole(node: TestNode, { token }: TestMember): ConsoleDoor {
  return {
    name: 'REST',
    async ask(verb, asked = {}) {
      const query = new URLSearchParams();
      for (const [key, value] of Object.entries(asked)) query.set(key, String(value));
      const { body } = await node.http('GET', `/agent_api/v1/mesh/${verb}?${query.toString()}`, { token });
      return answered(body);
    },
    close: () => Promise.resolve(),
  };
}

function busConsole(bus: BusClient): ConsoleDoor {
  return {
    name: 'bus',
    ask: async (verb, asked = {}) => answered((await bus.ask(verb, asked)).body),
    close: () => bus.close(),
  };
}

function modelConsole(node: TestNode, member: TestMember, run: string): ConsoleDoor {
  return {
    name: 'model',
    async ask(verb, asked = {}) {
      const task = await parked(node, member, run, callStep(`mesh_${verb}`, { input: asked }));
      const { status, error, content, structured_content: body } = await taskNow(node, member, task, 10_000);
      if (status === 'failed') return { code: (error.detail as string).split(':')[0] };
      if (content !== JSON.stringify(body)) throw new Error('The content is not the structured content');
      return body;
    },
    close: () => Promise.resolve(),
  };
}

function answered(body: Answer): Answer {
  return body.error ? { code: body.error.code } : body;
}

/** `POST /agent_api/v1/mesh/call`, with the whole answer. */
export const meshCall = (node: TestNode, { token }: TestMember, body: object, headers = {}) =>
  node.http('POST', '/agent_api/v1/mesh/call', { token, body, headers });

export const taskOfCall = async (...asked: Parameters<typeof meshCall>): Promise<Answer> =>
  ok(await meshCall(...asked)).body.task;
