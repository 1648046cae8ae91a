import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../../src/launch/port.mjs';
import { findProgram } from '../find-program.mjs';
import { BULLMQ } from '../names.mjs';
import { INPUT } from '../workload.mjs';

const QUEUE = 'calls';

/**
 * BullMQ on a Redis of its own: `add`, and wait until the job is finished. `appendfsync always` is as durable as
 * PostgreSQL's commit; with `no` a power cut may lose what was acknowledged. Finished jobs are kept, like rows.
 */
const peer = (name, appendfsync) => ({
  file: import.meta.url,
  name,
  async open(stage) {
    const redisServer = findProgram('redis-server');
    if (!redisServer) return { absent: 'redis-server is not on the PATH' };
    const port = await freePort();
    const dir = join(stage.folder, `redis-${appendfsync}`);
    mkdirSync(dir);
    const settings = { bind: '127.0.0.1', port, dir, save: '', appendonly: 'yes', appendfsync };
    const args = Object.entries(settings).flatMap(([setting, value]) => [`--${setting}`, String(value)]);
    const redis = await stage.startProgram('redis-server', redisServer, args, {
      isReady: () => answers(port),
    });
    return { context: { host: '127.0.0.1', port }, processes: { redis: redis.pid } };
  },
  roles: {
    async handler({ host, port }) {
      const { Worker } = await import('bullmq');
      const worker = new Worker(QUEUE, async (job) => ({ content: job.data.text }), {
        connection: { host, port },
        concurrency: 256,
      });
      await worker.waitUntilReady();
    },
    async caller({ host, port }) {
      const { Queue, QueueEvents } = await import('bullmq');
      const queue = new Queue(QUEUE, { connection: { host, port } });
      const events = new QueueEvents(QUEUE, { connection: { host, port } });
      await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);
      // a waiting call is a listener of both
      for (const heard of [queue, events]) heard.setMaxListeners(0);
      return {
        async call() {
          const job = await queue.add('echo', INPUT);
          const { content } = await job.waitUntilFinished(events);
          if (content !== INPUT.text) throw new Error(String(content));
        },
      };
    },
  },
});

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const answer = (value) => resolve(socket.destroy() && value);
    socket.once('error', () => answer(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (chunk) => answer(chunk.toString().startsWith('+PONG')));
  });
}

export const peers = [peer(BULLMQ.durable, 'always'), peer(BULLMQ.unsynced, 'no')];
