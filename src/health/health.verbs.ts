import { declareVerb } from '../doors/verb.js';

const open = { plane: 'open', rate: 'general', tag: 'Operations' } as const;

export const livenessVerb = declareVerb({
  ...open,
  name: 'healthz',
  summary: 'Is the process alive?',
  rest: { method: 'get', path: '/healthz' },
  response: { description: 'It is.', example: { status: 'ok' } },
  refusals: [],
});

export const readinessVerb = declareVerb({
  ...open,
  name: 'readyz',
  summary: 'Can this node work just now: are the database and the bus in reach?',
  rest: { method: 'get', path: '/readyz' },
  response: { description: 'Both are.', example: { status: 'ok', database: 'up', bus: 'up' } },
  refusals: ['unavailable'],
});

export const metricsVerb = declareVerb({
  ...open,
  name: 'metrics',
  summary: 'Prometheus metrics of this node',
  description:
    'Calls by outcome, step latencies, claims, sweep lag, and the state of the bus and the pool. No ids, no secrets.',
  rest: { method: 'get', path: '/metrics' },
  response: {
    description: 'The Prometheus text format.',
    example: 'nexus_calls_settled_total{outcome="completed"} 42\n',
    type: 'text/plain',
  },
  refusals: [],
});
