import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { BusStrategy } from './bus/bus.strategy.js';
import type { Env } from './config/env.js';
import { mountConsolePage } from './console-page/console-page.js';
import { createPino, PinoLoggerService } from './config/logger.js';
import { mountDocument } from './doors/openapi.js';
import { createRestServer } from './doors/rest-server.js';

/**
 * Makes a node with both doors, not yet listening: the same for the program, the tests and the exported document.
 * `preview` makes no provider, so that the document needs neither database nor bus.
 */
export async function createNode(env: Env, { preview = false } = {}): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.of(env), createRestServer(), {
    abortOnError: false,
    bodyParser: false,
    logger: new PinoLoggerService(createPino(env.LOG_LEVEL)),
    preview,
  });
  mountDocument(app);
  mountConsolePage(app);
  if (!preview) app.connectMicroservice({ strategy: app.get(BusStrategy) }, { inheritAppConfig: true });
  return app;
}
