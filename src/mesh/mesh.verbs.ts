import { declareVerb } from '../doors/verb.js';

const executor = '01990000-0000-7000-8000-000000000040';

/** Chapter 8, What should exist, what does. */
export const readMeshVerb = declareVerb({
  plane: 'platform',
  rate: 'general',
  tag: 'Mesh',
  name: 'read_mesh',
  summary: 'Ask what answers on the bus, beside what should',
  description:
    'Asks every service of the account once, gathers until none answered for 250 ms (2 s at most), and asks each that should ' +
    'have answered, and each whose identity is to be proven, once more by itself. `not_answering` are assignments of modules ' +
    'that declare tools. `unexpected` are answers without a record, under an identity that nobody can vouch for, outside ' +
    'their own subjects, or with other tools than were announced. `malformed` counts answers that were none. It only ' +
    'informs: no call goes elsewhere for it.',
  rest: { method: 'get', path: '/platform_api/v1/mesh' },
  response: {
    description: 'The fleet, as it answered.',
    example: {
      asked_at: '2026-01-01T12:00:00.000Z',
      gathered_ms: 312,
      machines: [
        {
          machine: 'build-box',
          services: [
            {
              name: 'tools',
              id: executor,
              version: '0.1.0',
              executor_public_id: executor,
              endpoints: [
                {
                  name: 'ls',
                  subject: `nexus.v1.tool.${executor}.1.ls`,
                  queue_group: 'q',
                  description: 'Lists a folder',
                },
              ],
              state: 'answering',
            },
          ],
        },
      ],
      not_answering: [
        {
          module: 'tools',
          machine: 'attic',
          executor_public_id: '01990000-0000-7000-8000-000000000041',
          last_seen_at: '2026-01-01T11:00:00.000Z',
        },
      ],
      unexpected: [
        {
          service: {
            name: 'tools',
            id: 'stranger',
            version: '1.0.0',
            executor_public_id: null,
            endpoints: [],
          },
          reason: 'there is no record of it',
        },
      ],
      malformed: 0,
    },
  },
  refusals: [],
});
