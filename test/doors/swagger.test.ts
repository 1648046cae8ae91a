import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import {
  announce,
  firstAccount,
  newAgent,
  newRunner,
  type TestExecutor,
  type TestMember,
  tool,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';

const CHROMIUM = process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium';
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const present = existsSync(CHROMIUM);
if (!present)
  process.stderr.write(
    `SKIPPED: no ${CHROMIUM}, the Swagger page is not tried in a browser (set CHROMIUM_BIN)\n`,
  );

(present ? describe : describe.skip)('The Swagger page, in a browser', () => {
  let node: TestNode;
  let agent: TestMember;
  let runner: TestExecutor;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    node = await TestNode.start();
    const account = await firstAccount(node);
    agent = await newAgent(node, account);
    runner = await newRunner(node, account);
    await announce(node, runner, [tool('read')]);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
    page = await browser.newPage();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await node.close();
  });

  it('authorizes with a member token, calls discovery and shows the runner', async () => {
    const failures: string[] = [];
    page.on('pageerror', (fault) => failures.push(fault.message));
    await page.goto(`${node.url}/docs`);
    await page.locator('.btn.authorize').first().click();
    const member = page.locator('.auth-container', { hasText: 'member (http, Bearer)' });
    await member.locator('input').fill(agent.token);
    await member.locator('button[type=submit]').click();
    await page.locator('.modal-ux .close-modal').click();

    const operation = page.locator('.opblock', {
      has: page.locator('[data-path="/agent_api/v1/executors"]'),
    });
    await operation.locator('.opblock-summary').first().click();
    await operation.locator('button.execute').click();
    const answer = operation.locator('.live-responses-table .highlight-code').first();
    await answer.waitFor();
    expect(await answer.innerText()).toContain(runner.id);
    expect(failures).toEqual([]);
  }, 60_000);
});
