import { CONSOLE_TOOLS } from './console-tools.js';
import { type KernelTool, READS_THE_KERNEL } from './kernel-tool.js';

export type { KernelTool } from './kernel-tool.js';

/** The kernel catalogue: every kernel tool that is served, and no other. */
export const KERNEL_TOOLS: readonly KernelTool[] = [
  {
    canonical_name: 'nexus.runners.list',
    name: 'runners_list',
    effect_profile: READS_THE_KERNEL,
    definition: {
      type: 'function',
      function: {
        name: 'runners_list',
        description:
          'Lists the runners that this run may address, each with its environment, and says which one is the current default.',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
      },
    },
  },
  {
    canonical_name: 'nexus.tools.search',
    name: 'tool_search',
    effect_profile: READS_THE_KERNEL,
    definition: {
      type: 'function',
      function: {
        name: 'tool_search',
        description:
          'Searches the tools and skills of this run by words and answers their full definitions. Call what it finds by its name, or with tool_call.',
        parameters: {
          type: 'object',
          properties: {
            query: {
              type: 'string',
              description: 'A tool’s exact name, or words that its name, description or skills hold',
            },
            limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
          },
          required: ['query'],
          additionalProperties: false,
        },
      },
    },
  },
  {
    canonical_name: 'nexus.tools.call',
    name: 'tool_call',
    effect_profile: 'of_called_tool',
    definition: {
      type: 'function',
      function: {
        name: 'tool_call',
        description: 'Calls a tool of this run by its name, as tool_search found it.',
        parameters: {
          type: 'object',
          properties: { name: { type: 'string' }, input: { type: 'object' } },
          required: ['name', 'input'],
          additionalProperties: false,
        },
      },
    },
  },
  ...CONSOLE_TOOLS,
];
