import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Socket } from 'node:net';
import { newId } from '../db/ids.js';
import { writeJson } from '../db/json-text.js';
import { refuse } from '../errors/refusal.js';
import { BODY_LIMIT_BYTES, JsonBody } from './body.js';

/** Slow and half-open clients are cut (chapter 9). */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** How long requests under way may still take when the node stops. */
const DRAIN_MS = 10_000;
/** How often connections that have fallen idle meanwhile are closed. */
const IDLE_MS = 50;
/** Longer than any id or key: what is longer is not found, like anything unknown. */
const PARAMETER_MAX = 4_096;

const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
} as const;

/**
 * The REST door's server: bodies are read once and kept as text, whatever goes wrong below the handlers is answered in the
 * one envelope, and a node that stops answers what it has taken in.
 */
export function createRestServer(): FastifyAdapter {
  const adapter: FastifyAdapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: newId,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: 75_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAMETER_MAX },
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    frameworkErrors: (_fault: Error, _request: FastifyRequest, reply: FastifyReply) => {
      void reply.status(404).send(refuse('not_found').envelope);
    },
    clientErrorHandler: refuseUnread,
  } as never);
  const fastify = adapter.getInstance<FastifyInstance>();
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => {
    try {
      done(null, JsonBody.read(bytes as Buffer));
    } catch (refusal) {
      done(refusal as Error);
    }
  });
  fastify.setReplySerializer(writeJson);
  drainOnClose(fastify);
  return adapter;
}

/** While the node stops every answer closes its connection, so that what is under way ends, and no more comes. */
function drainOnClose(fastify: FastifyInstance): void {
  const { server } = fastify;
  const connections = new Set<Socket>();
  const busy = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    busy.add(socket);
    response.once('close', () => busy.delete(socket));
  });
  let isClosing = false;
  fastify.addHook('preClose', (done) => {
    isClosing = true;
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref();
    // a connection without a request is kept for the next one, which shall not come
    const sweep = setInterval(() => {
      for (const socket of connections) if (!busy.has(socket)) socket.destroy();
    }, IDLE_MS).unref();
    server.once('close', () => {
      clearTimeout(cut);
      clearInterval(sweep);
    });
    done();
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    void reply.headers(HEADERS);
    if (isClosing) void reply.header('Connection', 'close');
    done(null, payload);
  });
}

/** What could not be read as HTTP at all is answered in the envelope too, and cut. */
function refuseUnread(fault: Error & { code?: string }, socket: Socket): void {
  if (fault.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const body = JSON.stringify(refuse('parameter_invalid', 'the request is not readable as HTTP').envelope);
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/json; charset=utf-8',
    'Connection: close',
  ];
  socket.end(`${[...head, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`);
}
