import { declareVerb } from '../doors/verb.js';

const executorPlane = {
  plane: 'executor_transport',
  rate: 'general',
  tag: 'Executor',
  bus: 'executor',
} as const;

const description = {
  executor: {
    public_id: '01990000-0000-7000-8000-000000000001',
    kind: 'runner',
    status: 'active',
    display_name: 'Build box',
    credential_epoch: 1,
    presence: 'online',
    last_seen_at: '2026-01-01T12:00:00.000Z',
    connected_at: '2026-01-01T11:00:00.000Z',
  },
  measured_at: '2026-01-01T12:00:01.000Z',
};

/** Chapter 2: replaces everything this executor serves. */
export const announceVerb = declareVerb({
  ...executorPlane,
  name: 'announce',
  summary: 'Say what this executor serves',
  description:
    'A whole replacement, stored verbatim in one transaction: what is absent is cleared, and a refusal writes nothing. ' +
    'It affects future addressing only; accepted work keeps what it was accepted with. A tool is shown to models when it ' +
    'has both `description` and `input_schema`; otherwise only people can call it. The first fault in document order is ' +
    'the message, and at most 20 faults ride in `error.details`. The INFO document of a micro service ' +
    '(`io.nats.micro.v1.info_response`) is read as an announcement with delivery `serve`: a tool for each endpoint under the ' +
    'executor’s tool prefix, the rest of an entry in its metadata (`description`, `input_schema`, `effect_profile`, ' +
    '`timeout_ms`), `environment` and `documents` in the metadata of the service, as JSON texts.',
  rest: { method: 'put', path: '/agent_api/v1/executor/announcement' },
  request: {
    description: 'At most 768 KiB of tools, 64 KiB of environment and 64 KiB of documents.',
    example: {
      tools: [
        {
          name: 'read',
          effect_profile: {
            kind: 'read_only',
            destructive: false,
            effect_scope: 'closed',
            idempotency: 'intrinsic',
            reconciliation: 'none',
          },
          timeout_ms: 120_000,
          description: 'Reads a file of the workspace',
          input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        },
      ],
      environment: { os: 'linux' },
      documents: [{ name: 'workspace-tools', description: 'Tools installed in this image' }],
      delivery: 'claim',
      max_in_flight: 16,
    },
  },
  response: { description: 'It is announced. The lists are not read back here.', example: description },
  refusals: ['parameter_missing', 'reserved_namespace', 'invalid_announcement', 'validation_failed'],
});

/** Chapters 1 and 2: who am I, and the seat of one process for each executor. */
export const describeVerb = declareVerb({
  ...executorPlane,
  name: 'describe',
  summary: 'Who am I?',
  description:
    'The executor behind the credential. A process that names its `incarnation_id`, and repeats it every 5 s, takes the ' +
    'one seat of its executor: while another incarnation was heard from within 12 s, a new one is refused ' +
    '`executor_in_use` and waits its turn. `leaving` frees the seat at once, and a re-pair takes it over at once.',
  rest: { method: 'get', path: '/agent_api/v1/executor' },
  parameters: [
    {
      name: 'incarnation_id',
      in: 'query',
      description: 'Names this process; 1 to 128 characters. On the bus a field of the body.',
      example: '6f1c9d0e',
    },
    {
      name: 'leaving',
      in: 'query',
      description: '`true` on a clean stop of the process that `incarnation_id` names.',
      enum: ['true', 'false'],
      example: 'false',
    },
  ],
  response: { description: 'The executor, as the server knows it.', example: description },
  refusals: ['parameter_missing', 'parameter_invalid', 'validation_failed', 'executor_in_use'],
});
