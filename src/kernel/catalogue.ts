import type { EffectProfile } from './effect-profile.js';

/** A tool that the kernel itself serves, as `GET /agent_api/v1/tools` shows it (chapter 3). */
export interface KernelTool {
  readonly canonical_name: string;
  /** The wire name: the callable that a model sees. */
  readonly name: string;
  /** `of_called_tool`: a call of it becomes the call of another tool, with that one's profile (chapter 6). */
  readonly effect_profile: EffectProfile | 'of_called_tool';
  readonly definition: {
    readonly type: 'function';
    readonly function: {
      readonly name: string;
      readonly description: string;
      readonly parameters: Readonly<Record<string, unknown>>;
    };
  };
}

const READS_THE_KERNEL: EffectProfile = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
};

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
];
