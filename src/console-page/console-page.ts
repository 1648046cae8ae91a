import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const FOLDER = fileURLToPath(new URL('./page/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * The page loads its own files and speaks to its own node, and does nothing else: no inline script or style, no form that is
 * sent, no frame around it, and no string that becomes markup or script (chapter 8).
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** A file of the page, as it is answered. */
interface PageFile {
  readonly name: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly tag: string;
}

/**
 * Serves the administrators' page at `/console` (chapter 8): static files without any data, read once when the node is made.
 * Every file has a route of its own, so no path leads anywhere else. The page asks the Platform API like any other client.
 */
export function mountConsolePage(app: NestFastifyApplication): void {
  const fastify: FastifyInstance = app.getHttpAdapter().getInstance();
  for (const file of readPage()) {
    const paths = file.name === 'index.html' ? ['/console', '/console/'] : [`/console/${file.name}`];
    for (const path of paths) fastify.get(path, (request, reply) => answer(file, request, reply));
  }
}

function answer(file: PageFile, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  void reply.headers(file.headers);
  if (headers['if-none-match'] === file.tag) return reply.status(304).send();
  const isGzip = /\bgzip\b/.test(headers['accept-encoding']?.toString() ?? '');
  return isGzip ? reply.header('Content-Encoding', 'gzip').send(file.gzip) : reply.send(file.plain);
}

function readPage(): PageFile[] {
  return readdirSync(FOLDER).flatMap((name) => {
    const type = TYPES[extname(name)];
    if (type === undefined) return [];
    const plain = readFileSync(join(FOLDER, name));
    const tag = `W/"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
    const headers = {
      'Content-Type': type,
      'Content-Security-Policy': POLICY,
      // a node of another version may answer the next request: what a browser keeps, it asks about
      'Cache-Control': 'no-cache',
      ETag: tag,
      Vary: 'Accept-Encoding',
    };
    return [{ name, plain, gzip: gzipSync(plain), headers, tag }];
  });
}
