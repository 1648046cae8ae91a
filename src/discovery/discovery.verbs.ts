import { declareVerb, type VerbParameter } from '../doors/verb.js';

const memberPlane = { plane: 'member', rate: 'general', tag: 'Discovery' } as const;

const readOnly = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
} as const;

const row = {
  public_id: '01990000-0000-7000-8000-000000000001',
  kind: 'runner',
  display_name: 'Build box',
  status: 'active',
  assignment_scope: 'account_wide',
  served_tools: [
    { name: 'read', effect_profile: readOnly, description: 'Reads a file', input_schema: { type: 'object' } },
  ],
  environment: { os: 'linux' },
  served_documents: [{ name: 'workspace-tools', description: 'Tools installed in this image' }],
  presence: 'online',
  last_seen_at: '2026-01-01T12:00:00.000Z',
  connected_at: '2026-01-01T11:00:00.000Z',
  modules: ['tools'],
  machine: 'build-box',
  announced_at: '2026-01-01T11:00:01.000Z',
} as const;

const ifNoneMatch: VerbParameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier answer: `304` when nothing but presence and contact times changed.',
  example: 'W/"2jmj7l5rSw0yVb_vlWAYkK"',
};

/** Chapter 3: which executors may I address? */
export const discoverExecutorsVerb = declareVerb({
  ...memberPlane,
  name: 'discover_executors',
  summary: 'List the executors that I may address',
  description:
    'Runners and tool providers that are eligible for the caller, in the order of their registration, with what they ' +
    'serve, verbatim. Presence is display only. A page ends early at 4 MiB.',
  rest: { method: 'get', path: '/agent_api/v1/executors' },
  parameters: [
    {
      name: 'kind',
      in: 'query',
      description: 'Only these; both when absent.',
      enum: ['runner', 'tool_provider'],
    },
    {
      name: 'q',
      in: 'query',
      description: 'All of these words, in display name, served names and descriptions.',
    },
    {
      name: 'view',
      in: 'query',
      description:
        '`summary` gives each tool as name, effect profile, timeout, description and schema digest.',
      enum: ['summary'],
    },
    { name: 'limit', in: 'query', description: 'Rows on a page at most; 1 to 200.', example: 50 },
    { name: 'after', in: 'query', description: 'The `next_after` of the page before.' },
    ifNoneMatch,
  ],
  response: {
    description: 'A page of rows.',
    example: { executors: [row], pagination: { next_after: null } },
  },
  refusals: ['parameter_invalid'],
});

/** Chapter 3: one executor, always whole. */
export const discoverExecutorVerb = declareVerb({
  ...memberPlane,
  name: 'discover_executor',
  summary: 'Read one executor that I may address',
  description: 'Always whole. Unknown, of another account and not eligible are the same `404`.',
  rest: { method: 'get', path: '/agent_api/v1/executors/{public_id}' },
  addresses: 'public_id',
  parameters: [ifNoneMatch],
  response: { description: 'The row.', example: { executor: row } },
  refusals: ['not_found'],
});

/** Chapter 3: the kernel catalogue. */
export const kernelToolsVerb = declareVerb({
  ...memberPlane,
  name: 'kernel_tools',
  summary: 'List the tools that the kernel itself serves',
  rest: { method: 'get', path: '/agent_api/v1/tools' },
  response: {
    description: 'The kernel catalogue.',
    example: {
      tools: [
        {
          canonical_name: 'nexus.runners.list',
          name: 'runners_list',
          effect_profile: readOnly,
          definition: {
            type: 'function',
            function: {
              name: 'runners_list',
              description: 'Lists the runners of this run',
              parameters: { type: 'object', properties: {}, additionalProperties: false },
            },
          },
        },
      ],
    },
  },
  refusals: [],
});
