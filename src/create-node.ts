import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { BusStrategy } from './bus/bus.strategy.js';
import type { Env } from './config/env.js';
import { createPino, PinoLoggerService } from './config/logger.js';
import { newId } from './db/ids.js';
import { writeJson } from './db/json-text.js';
import { BODY_LIMIT_BYTES, JsonBody } from './doors/body.js';
import { mountDocument } from './doors/openapi.js';

/** Slow and half-open clients are cut (chapter 9); a long poll lasts 60 s at most, so answers get more. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * Makes a node with both doors, not yet listening: the same for the program, the tests and the exported document.
 * `preview` makes no provider, so that the document needs neither database nor bus.
 */
export async function createNode(env: Env, { preview = false } = {}): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    bodyLimit: BODY_LIMIT_BYTES,
    genReqId: newId,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: 0,
    keepAliveTimeout: 75_000,
    forceCloseConnections: true,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
  } as ConstructorParameters<typeof FastifyAdapter>[0]);
  const fastify = adapter.getInstance();
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => {
    try {
      done(null, JsonBody.read(bytes as Buffer));
    } catch (refusal) {
      done(refusal as Error);
    }
  });
  fastify.setReplySerializer(writeJson);

  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(env), adapter, {
    abortOnError: false,
    bodyParser: false,
    logger: new PinoLoggerService(createPino(env.LOG_LEVEL)),
    preview,
  });
  mountDocument(app);
  if (!preview) app.connectMicroservice({ strategy: app.get(BusStrategy) }, { inheritAppConfig: true });
  return app;
}
