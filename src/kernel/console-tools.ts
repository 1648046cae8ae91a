import { WORST_EFFECT_PROFILE } from './effect-profile.js';
import { type KernelTool, READS_THE_KERNEL } from './kernel-tool.js';

const limit = { type: 'integer', minimum: 1, maximum: 200 } as const;
const after = { type: 'string', description: 'The next_after of the page before' } as const;
const address = {
  type: 'string',
  description: 'module@machine/tool, or module/tool where that names one, as mesh_tools says it',
} as const;

/** The console's five tools (chapter 8): however large the mesh is, a model sees five. */
export const CONSOLE_TOOLS: readonly KernelTool[] = [
  reading('machines', 'Lists the machines, what answers on each, and what should answer and does not.', {
    properties: { limit, after },
  }),
  reading('services', 'Lists the modules and seats with their instances, interchangeable or not.', {
    properties: { limit, after },
  }),
  reading('tools', 'Finds tools that answer on any machine, by words, and says the address of each.', {
    properties: {
      query: { type: 'string', description: 'Words that name, description, module or machine hold' },
      limit,
      after,
    },
  }),
  reading('describe', 'Describes the tool at an address: its input schema, effects and instances.', {
    properties: { address },
    required: ['address'],
  }),
  {
    ...tool('call', 'Calls the tool at an address, as mesh_tools found it and mesh_describe described it.', {
      properties: {
        address,
        input: { type: 'object' },
        timeout_ms: { type: 'integer', minimum: 1, maximum: 3_600_000 },
      },
      required: ['address', 'input'],
    }),
    effect_profile: 'of_called_tool',
  },
];

/** How the seat announces one of the five on the bus, in strings (chapter 8). */
export function consoleSeat(verb: 'machines' | 'services' | 'tools' | 'describe' | 'call'): {
  readonly name: 'console';
  readonly endpoint: string;
  readonly metadata: Readonly<Record<string, string>>;
} {
  const named = CONSOLE_TOOLS.find(({ name }) => name === `mesh_${verb}`);
  const { description = '', parameters = {} } = named?.definition.function ?? {};
  return {
    name: 'console',
    endpoint: verb,
    metadata: {
      description,
      input_schema: JSON.stringify(parameters),
      effect_profile: JSON.stringify(verb === 'call' ? WORST_EFFECT_PROFILE : READS_THE_KERNEL),
    },
  };
}

function reading(verb: string, description: string, parameters: object): KernelTool {
  return { ...tool(verb, description, parameters), effect_profile: READS_THE_KERNEL };
}

function tool(verb: string, description: string, parameters: object): Omit<KernelTool, 'effect_profile'> {
  const name = `mesh_${verb}`;
  return {
    canonical_name: `nexus.console.${verb}`,
    name,
    definition: {
      type: 'function',
      function: {
        name,
        description,
        parameters: { type: 'object', ...parameters, additionalProperties: false },
      },
    },
  };
}
