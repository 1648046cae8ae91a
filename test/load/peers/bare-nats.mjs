import { connect } from 'nats';
import { BARE_NATS } from '../names.mjs';
import { ANSWER_WITHIN_MS, INPUT } from '../workload.mjs';

/** NATS alone: one request and its answer, JSON at both ends. Nothing is kept. */
export const peers = [
  {
    file: import.meta.url,
    name: BARE_NATS,
    open: (stage) => ({ context: { servers: stage.nats.url }, processes: { nats: stage.nats.pid } }),
    roles: {
      async handler({ servers }) {
        const bus = await connect({ servers, noAsyncTraces: true });
        bus.subscribe('bare.echo', {
          queue: 'handlers',
          callback: (_fault, message) => {
            const { input } = message.json();
            message.respond(JSON.stringify({ content: input.text }));
          },
        });
        await bus.flush();
      },
      async caller({ servers }) {
        const bus = await connect({ servers, noAsyncTraces: true });
        return {
          async call() {
            const body = JSON.stringify({ input: INPUT });
            const answer = await bus.request('bare.echo', body, { timeout: ANSWER_WITHIN_MS });
            if (answer.json().content !== INPUT.text) throw new Error(answer.string());
          },
        };
      },
    },
  },
];
