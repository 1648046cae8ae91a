import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
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

describeInBrowser('The Swagger page, in a browser', () => {
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
    browser = await launchBrowser();
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
