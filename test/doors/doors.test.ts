import 'reflect-metadata';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type INestApplication, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { NatsConnection } from 'nats';
import { ERROR_TABLE } from '../../src/errors/error-table.js';
import { BusConnections } from '../../src/bus/bus-connections.js';
import { BusStrategy } from '../../src/bus/bus.strategy.js';
import { declaredVerbs, refusalsOf, type VerbDeclaration } from '../../src/doors/verb.js';
import type { BusClient } from '../support/bus-client.js';
import {
  firstAccount,
  newAgent,
  newRunner,
  onBus,
  type TestAccount,
  type TestExecutor,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';

const VERB = 'nexus:verb';
const ROUTE = 'path';

describe('The doors', () => {
  let node: TestNode;
  let account: TestAccount;
  let runner: TestExecutor;
  let bus: BusClient;

  beforeAll(async () => {
    node = await TestNode.start();
    account = await firstAccount(node);
    runner = await newRunner(node, account);
    bus = await onBus(runner);
  });
  afterAll(async () => {
    await bus.close();
    await node.close();
  });

  describe('fail closed', () => {
    it('every handler of every controller is bound to a verb', () => {
      const unbound = handlersOf(node.app).filter(({ handler }) => !Reflect.hasMetadata(VERB, handler));
      expect(unbound.map(({ name }) => name)).toEqual([]);
    });

    it('every declared verb has a handler', () => {
      const bound = new Set(
        handlersOf(node.app).map(
          ({ handler }) => (Reflect.getMetadata(VERB, handler) as VerbDeclaration | undefined)?.name,
        ),
      );
      expect(declaredVerbs().filter(({ name }) => !bound.has(name))).toEqual([]);
    });

    it('a body or field parameter of a controller has a class that validation knows', () => {
      const anonymous = handlersOf(node.app).filter(({ types }) => types.includes(undefined));
      expect(anonymous.map(({ name }) => name)).toEqual([]);
    });

    it.each(declaredVerbs().filter((verb) => verb.plane !== 'open' && verb.rest !== undefined))(
      'without a credential $name is 401 unauthorized on REST',
      async ({ rest }) => {
        const path = (rest?.path ?? '').replace(/\{\w+\}/g, '01900000-0000-7000-8000-000000000000');
        const answer = await node.http((rest?.method ?? '').toUpperCase(), path);
        expect(answer).toMatchObject({
          status: 401,
          body: { error: { code: 'unauthorized' } },
          headers: { 'www-authenticate': 'Bearer realm="Nexus"' },
        });
      },
    );
  });

  describe('planes', () => {
    it('a credential of another plane is the same 401, on every route of every plane', async () => {
      const agent = await newAgent(node, account);
      const tokens = {
        member: agent.token,
        executor_transport: runner.token,
        platform: account.platformToken,
      };
      for (const verb of declaredVerbs()) {
        if (!verb.rest || verb.plane === 'open') continue;
        for (const [plane, token] of Object.entries(tokens)) {
          if (plane === verb.plane) continue;
          const path = verb.rest.path.replace(/\{\w+\}/g, '01900000-0000-7000-8000-000000000000');
          const answer = await node.http(verb.rest.method.toUpperCase(), path, { token });
          expect({ verb: verb.name, plane, status: answer.status }).toEqual({
            verb: verb.name,
            plane,
            status: 401,
          });
        }
      }
    });
  });

  describe('one envelope', () => {
    const broken: [string, string | Buffer][] = [
      ['truncated JSON', '{"tools": ['],
      ['10,000-deep nesting', `{"tools":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
      ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
      ['a list for a body', '[1]'],
    ];
    it.each(broken)('%s is 400 invalid_json on both doors', async (_name, body) => {
      const rest = await node.http('PUT', '/agent_api/v1/executor/announcement', {
        token: runner.token,
        body,
      });
      const onTheBus = await bus.ask('announce', body);
      expect(rest).toMatchObject({ status: 400, body: { error: { code: 'invalid_json' } } });
      expect(onTheBus).toMatchObject({ status: 400, code: 'invalid_json' });
      expect(onTheBus.body).toEqual(rest.body);
    });

    it('a body over 1 MiB is 413 content_too_large on both doors', async () => {
      const body = JSON.stringify({ tools: [], padding: 'x'.repeat(1024 * 1024) });
      const rest = await node.http('PUT', '/agent_api/v1/executor/announcement', {
        token: runner.token,
        body,
      });
      expect(rest).toMatchObject({ status: 413, body: { error: { code: 'content_too_large' } } });
      expect(await bus.ask('announce', body)).toMatchObject({ status: 413, code: 'content_too_large' });
    });

    it('a route that does not exist is 404 not_found in the same envelope', async () => {
      expect(await node.http('GET', '/agent_api/v1/nothing')).toMatchObject({
        status: 404,
        body: { error: { code: 'not_found', message: ERROR_TABLE.not_found.meaning } },
      });
    });

    it.each(['/docs/../x', '/docs/%2e%2e/x', '/docs//x'])(
      'what is no document below /docs is 404 not_found: %s',
      async (path) => {
        expect(await raw(node, `GET ${path} HTTP/1.1`)).toMatch(
          /^HTTP\/1.1 404 [^]*{"error":{"code":"not_found"/,
        );
      },
    );

    it.each([
      `/agent_api/v1/runs/%E0%A4%A`,
      `/agent_api/v1/runs/${'a'.repeat(300)}`,
      `/agent_api/v1/runs/${'a'.repeat(5_000)}`,
    ])('an id that no run can have is 404 not_found, and is not echoed: %s', async (path) => {
      const agent = await newAgent(node, account);
      const answer = await node.http('GET', path, { token: agent.token });
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
      expect(answer.text).not.toContain('aaa');
    });

    it('what is not HTTP is answered in the envelope, and cut', async () => {
      expect(await raw(node, 'HELLO')).toMatch(/^HTTP\/1.1 400 [^]*{"error":{"code":"parameter_invalid"/);
    });

    it('both doors give the same answer to the same announcement', async () => {
      const body = { tools: [tool('read')] };
      const rest = await node.http('PUT', '/agent_api/v1/executor/announcement', {
        token: runner.token,
        body,
      });
      const onTheBus = await bus.ask('announce', body);
      expect(onTheBus.status).toBe(rest.status);
      expect(Object.keys(onTheBus.body.executor)).toEqual(Object.keys(rest.body.executor));
    });

    it('a thousand bad credentials are a thousand times the same answer, and the process lives', async () => {
      const answers = await Promise.all(
        Array.from({ length: 1_000 }, (_, index) =>
          node.http('GET', '/agent_api/v1/profile', { token: `nxm_${index}` }),
        ),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect((await node.http('GET', '/healthz')).status).toBe(200);
    });
  });

  describe('a responder answers only where the asker may read', () => {
    it('a request whose reply subject is not the speaker’s inbox has no effect', async () => {
      const connection = bus.connection;
      const before = await node.http('GET', '/agent_api/v1/executor', { token: runner.token });
      // a place that it may read too, where Nexus pushes to it
      const heard = connection.subscribe(runner.subjects.work);
      const subject = `${runner.subjects.executor}.announce`;
      const dropped = node.app.get(BusStrategy).droppedRequests;
      connection.publish(subject, JSON.stringify({ tools: [tool('smuggled')] }), {
        reply: runner.subjects.work,
      });
      connection.publish(subject, JSON.stringify({ tools: [tool('smuggled')] }));
      await connection.flush();
      // the node has worked off what came before this request
      await bus.ask('describe');
      expect(heard.getReceived()).toBe(0);
      expect(node.app.get(BusStrategy).droppedRequests - dropped).toBe(2);
      expect(before.status).toBe(200);
      const { rows } = await node.db.pool.query(
        `select tools::text from announcements where executor_id = $1`,
        [runner.id],
      );
      expect(JSON.stringify(rows)).not.toContain('smuggled');
    });
  });

  describe('the services protocol', () => {
    it('the node answers PING, INFO and STATS as nexus-executor, with its subjects as served', async () => {
      const connection = await new Promise<NatsConnection>((made) =>
        node.app.get(BusConnections).onServing(made),
      );
      const client = connection.services.client();
      const infos = [];
      for await (const info of await client.info('nexus-executor')) infos.push(info);
      const mine = infos.find(({ endpoints }) =>
        endpoints.some(({ subject }) => subject.startsWith(node.env.NEXUS_BUS_PREFIX)),
      );
      const verbs = declaredVerbs().filter((verb) => verb.bus === 'executor');
      expect(
        mine?.endpoints.map(({ name, subject, queue_group }) => ({ name, subject, queue_group })),
      ).toEqual(
        expect.arrayContaining(
          verbs.map(({ name }) => ({
            name,
            subject: `${node.env.NEXUS_BUS_PREFIX}.executor.*.*.${name}`,
            queue_group: 'nexus',
          })),
        ),
      );
      const stats = [];
      for await (const stat of await client.stats('nexus-executor', mine?.id)) stats.push(stat);
      expect(stats[0]?.endpoints?.find(({ name }) => name === 'announce')).toMatchObject({
        num_requests: expect.any(Number),
        num_errors: expect.any(Number),
        last_error: expect.any(String),
      });
      const pings = [];
      for await (const ping of await client.ping('nexus-executor', mine?.id)) pings.push(ping);
      expect(pings).toHaveLength(1);
    });
  });

  it('the Swagger document has summary, security and error codes for every route', async () => {
    const { body } = await node.http('GET', '/docs/json');
    for (const verb of declaredVerbs()) {
      if (!verb.rest) continue;
      const operation = body.paths[verb.rest.path][verb.rest.method];
      expect(operation.summary).toBe(verb.summary);
      if (verb.plane !== 'open') expect(operation.security).toEqual([{ [verb.plane]: [] }]);
      for (const code of refusalsOf(verb))
        expect(operation.responses).toHaveProperty(String(ERROR_TABLE[code].status));
    }
  });
});

/** What the server answers to bytes that no client library would send. */
function raw(node: TestNode, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(node.url).port), '127.0.0.1');
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.once('error', reject);
    socket.once('close', () => resolve(answer));
    socket.write(`${head}\r\nHost: x\r\nConnection: close\r\n\r\n`);
  });
}

interface Handler {
  readonly name: string;
  readonly handler: object;
  /** The classes of the parameters that a DTO belongs to; undefined where the class was erased. */
  readonly types: (Type | undefined)[];
}

/** Every method of every controller that is reached by a route or by a bus pattern. */
function handlersOf(app: INestApplication): Handler[] {
  const handlers: Handler[] = [];
  for (const module of app.get(ModulesContainer).values()) {
    for (const { metatype, instance } of module.controllers.values()) {
      const prototype = Object.getPrototypeOf(instance) as Record<string, object>;
      for (const method of Object.getOwnPropertyNames(prototype)) {
        const handler = prototype[method];
        if (method === 'constructor' || typeof handler !== 'function') continue;
        if (!Reflect.hasMetadata(ROUTE, handler) && !Reflect.hasMetadata(VERB, handler)) continue;
        handlers.push({
          name: `${metatype?.name ?? '?'}.${method}`,
          handler,
          types: fieldTypes(metatype as Type, prototype, method),
        });
      }
    }
  }
  return handlers;
}

/** Parameters injected by `Fields` are validated by their class: `Object` would validate nothing. */
function fieldTypes(controller: Type, prototype: object, method: string): (Type | undefined)[] {
  const args = (Reflect.getMetadata('__routeArguments__', controller, method) ?? {}) as Record<
    string,
    { index: number; factory?: { name: string } }
  >;
  const types = (Reflect.getMetadata('design:paramtypes', prototype, method) ?? []) as Type[];
  return Object.values(args)
    .filter(({ factory }) => factory?.name === 'fieldsOf')
    .map(({ index }) => (types[index] === Object ? undefined : types[index]));
}
