import { readdir } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anotherAccount } from '../identity/two-accounts.js';
import { SseReader } from '../routing/sse-reader.js';
import { accept, callStep, settle } from '../routing/stage.js';
import {
  announce,
  firstAccount,
  newAgent,
  newRun,
  newRunner,
  type TestAccount,
  type TestMember,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { newPlatformSecret } from './stage.js';

let node: TestNode;
let account: TestAccount;

beforeAll(async () => {
  node = await TestNode.start();
  account = await firstAccount(node);
});
afterAll(() => node.close());

describe('The files of the console page', () => {
  const files = async (): Promise<string[]> => {
    const names = await readdir(new URL('../../src/console-page/page/', import.meta.url));
    return names.filter((name) => !name.endsWith('.ts')).map((name) => `/console/${name}`);
  };

  it('come under a strict content security policy, and nobody sniffs, frames or keeps them', async () => {
    for (const path of ['/console', '/console/', ...(await files())]) {
      if (path.endsWith('/index.html')) continue;
      const { status, headers } = await node.http('GET', path);
      expect({ path, status }).toEqual({ path, status: 200 });
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'cache-control': 'no-cache',
      });
      const policy = new Map(
        String(headers['content-security-policy'])
          .split('; ')
          .map((one) => [one.slice(0, one.indexOf(' ')), one.slice(one.indexOf(' ') + 1)]),
      );
      expect(Object.fromEntries(policy)).toEqual({
        'default-src': "'none'",
        'script-src': "'self'",
        'style-src': "'self'",
        'img-src': "'self'",
        'connect-src': "'self'",
        'base-uri': "'none'",
        'form-action': "'none'",
        'frame-ancestors': "'none'",
        'require-trusted-types-for': "'script'",
        'trusted-types': "'none'",
      });
    }
  });

  it('hold no script and no style inline, and name nothing outside', async () => {
    const { text } = await node.http('GET', '/console');
    expect(text).not.toMatch(/<script(?![^>]* src="\/console\/)|<style|\sstyle=|\son\w+=|https?:\/\//);
    for (const path of await files()) {
      if (path.endsWith('/index.html')) continue;
      expect((await node.http('GET', path)).text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(
        /https?:|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Storage|\.cookie/,
      );
    }
  });

  it('take less than 60 KB to load, and are asked about, not fetched again', async () => {
    let bytes = 0;
    for (const path of ['/console', ...(await files())]) {
      if (path.endsWith('/index.html')) continue;
      const { headers, text } = await node.http('GET', path);
      const packed = await node.app.inject({ url: path, headers: { 'accept-encoding': 'gzip, br' } });
      expect(gunzipSync(packed.rawPayload).toString()).toBe(text);
      bytes += packed.rawPayload.length;
      const again = await node.http('GET', path, { headers: { 'if-none-match': String(headers['etag']) } });
      expect({ status: again.status, text: again.text }).toEqual({ status: 304, text: '' });
    }
    expect(bytes).toBeLessThan(60_000);
  });

  it.each([
    '/console/nothing.js',
    '/console/../package.json',
    '/console/%2e%2e/console-page.ts',
    '/console/json-text.d.ts',
  ])('are these and no others: %s is 404 not_found', async (path) => {
    expect(await node.http('GET', path)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    });
  });
});

describe('What the console page reads of a run', () => {
  let agent: TestMember;
  let run: string;

  beforeAll(async () => {
    agent = await newAgent(node, account);
    const runner = await newRunner(node, account);
    await announce(node, runner, [tool('read')]);
    run = await newRun(node, agent, runner);
    await accept(node, agent, run, [callStep('read', { key: 'look' })]);
  });

  it('one task, as a page of them has it', async () => {
    const { platformToken: token } = account;
    const page = await node.http('GET', `/platform_api/v1/runs/${run}/tasks`, { token });
    const one = await node.http('GET', `/platform_api/v1/runs/${run}/tasks/look`, { token });
    expect(one).toMatchObject({ status: 200, body: { task: page.body.tasks[0] } });
    const none = await node.http('GET', `/platform_api/v1/runs/${run}/tasks/none`, { token });
    expect(none).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });

  it('its tasks on every change, by a stream that ends with the platform credential', async () => {
    const { token, revoke } = await newPlatformSecret(node, account);
    const stream = await SseReader.open(`${node.url}/platform_api/v1/runs/${run}/events`, token);
    await stream.until(({ data }) => data.task?.status === 'dispatched');
    await settle(node, run, 'look');
    await stream.until(({ data }) => data.task?.status === 'completed');
    await revoke();
    await stream.end();
  });

  it('nothing of another account', async () => {
    const other = await anotherAccount(node);
    for (const below of ['', '/tasks', '/tasks/look', '/events']) {
      const path = `/platform_api/v1/runs/${run}${below}`;
      const answer = await node.http('GET', path, { token: other.platformToken });
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    }
  });
});
