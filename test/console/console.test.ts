import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { addRuns, addSettledTasks, age, prune, setRetention } from '../retention/stage.js';
import { accept, callStep, settle } from '../routing/stage.js';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import {
  announce,
  firstAccount,
  newAgent,
  newExecutor,
  newRun,
  newRunner,
  type TestAccount,
  type TestExecutor,
  type TestMember,
  tool,
  WRITE,
} from '../support/factories.js';
import { TestNode } from '../support/node.js';
import { claimed, type Door, parked, pastDeadline, restDoor, type TaskName } from '../work/stage.js';
import { ConsolePage, newPlatformSecret } from './stage.js';

/** Text that would do harm wherever it were more than text, and where it would be read for something else. */
const MARKUP = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const TURNED = 'invoice\u202Egnp.exe';
const TURNED_SHOWN = 'invoice⟨U+202E⟩gnp.exe';

describeInBrowser('The console page, in a browser', () => {
  let node: TestNode;
  let account: TestAccount;
  let agent: TestMember;
  let runner: TestExecutor;
  let door: Door;
  let browser: Browser;
  let opened: ConsolePage[] = [];

  beforeAll(async () => {
    node = await TestNode.start();
    account = await firstAccount(node);
    agent = await newAgent(node, account);
    runner = await newRunner(node, account, { display_name: 'Build box', machine: 'build-box' });
    door = restDoor(node, runner);
    await serve();
    browser = await launchBrowser();
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await node.close();
  });
  afterEach(async () => {
    const pages = opened;
    opened = [];
    for (const console of pages) {
      expect(console.faults).toEqual([]);
      expect(console.asked.filter((url) => !url.startsWith(`${node.url}/`))).toEqual([]);
      expect(await console.traces()).not.toMatch(/nx[pme]_[0-9a-f]{8}/);
      await console.close();
    }
  });

  const serve = (writes: object = WRITE): Promise<void> =>
    announce(node, runner, [tool('read'), tool('write', { effect_profile: writes })]);

  async function open(hash = ''): Promise<ConsolePage> {
    const console = await ConsolePage.open(browser, node, hash);
    opened.push(console);
    return console;
  }

  async function signedIn(hash: string, token = account.platformToken): Promise<ConsolePage> {
    const console = await ConsolePage.signedIn(browser, node, token, hash);
    opened.push(console);
    return console;
  }

  /** A write that rests for a decision. */
  async function resting(key: string, input: object = { path: 'note.txt' }): Promise<TaskName> {
    return parked(node, agent, await newRun(node, agent, runner), callStep('write', { key, input }));
  }

  const decide = ({ run_public_id: run, task_key: key }: TaskName, verdict: 'approve' | 'deny') =>
    node.http('POST', `/platform_api/v1/runs/${run}/tasks/${key}/${verdict}`, {
      token: account.platformToken,
    });

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects, and fails where it is not
  async function now({ run_public_id: run, task_key: key }: TaskName): Promise<any> {
    const path = `/platform_api/v1/runs/${run}/tasks/${key}`;
    const { body } = await node.http('GET', path, { token: account.platformToken });
    return (body as { task: unknown }).task;
  }

  describe('signing in', () => {
    it('takes a platform secret, keeps it in memory alone, and forgets it with the page', async () => {
      const console = await signedIn('#/executors');
      const { page } = console;
      await console.row('Build box').waitFor();
      expect(await console.traces()).not.toContain(account.platformToken.slice(0, 40));
      expect(await page.title()).toBe('Executors · Nexus console');
      await page.reload();
      await page.getByLabel('Platform secret').waitFor();
      expect(await page.getByRole('table').count()).toBe(0);
    });

    it('says why a secret is not taken, and takes the right one after that', async () => {
      const console = await open('#/runs');
      const { page } = console;
      const refusal = page.getByRole('alert').filter({ hasText: /./ });
      await console.signIn('nxp_01900000-0000-7000-8000-000000000000_wrong');
      expect(await refusal.innerText()).toMatch(/^The credential was refused/);
      await console.signIn(agent.token);
      expect(await refusal.innerText()).toMatch(/^This is a member secret/);
      await console.signIn('päss');
      expect(await refusal.innerText()).toMatch(/^This is no secret/);
      await console.signIn(account.platformToken);
      await page.getByRole('heading', { name: 'Runs' }).waitFor();
    });

    it('lets no string become markup and no foreign file load, and these tests would see it', async () => {
      const console = await open();
      const { page } = console;
      const stopped = page.waitForEvent('console', (message) =>
        message.text().startsWith('violated img-src'),
      );
      await expect(page.evaluate(`document.body.innerHTML = '<b>'`)).rejects.toThrow('TrustedHTML');
      await page.evaluate(`document.body.append(Object.assign(new Image(), { src: 'data:image/png,' }))`);
      await stopped;
      expect(console.faults.join()).toMatch(/violated require-trusted-types-for.*violated img-src/);
      console.faults.length = console.asked.length = 0;
    });

    it('ends by signing out: nothing stays on the page', async () => {
      const { page } = await signedIn('#/executors');
      await page.getByRole('row').nth(1).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Platform secret').waitFor();
      expect(await page.getByText('Build box').count()).toBe(0);
    });

    it('ends when the credential is revoked, with the reason: where a list is read again', async () => {
      const { token, revoke } = await newPlatformSecret(node, account);
      const { page } = await signedIn('#/approvals', token);
      await page.getByRole('heading', { name: 'Approvals' }).waitFor();
      await revoke();
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByText('The credential was refused').waitFor();
      expect(await page.getByRole('button', { name: 'Sign out' }).isVisible()).toBe(false);
    });

    it('ends when the credential is revoked, with the reason: where a run is followed', async () => {
      const { token, revoke } = await newPlatformSecret(node, account);
      const run = await newRun(node, agent, runner);
      const { page } = await signedIn(`#/runs/${run}`, token);
      await page.getByText('live', { exact: true }).waitFor();
      await revoke();
      await page.getByText('The credential was refused').waitFor();
    });
  });

  describe('executors', () => {
    it('are shown with presence, epoch, status, kind, machine and modules; a name is only text', async () => {
      await newRunner(node, account, { display_name: MARKUP });
      await newRunner(node, account, { display_name: TURNED });
      const revoked = await newExecutor(node, account, {
        kind: 'tool_provider',
        display_name: 'Gone',
        manager_public_id: account.adminId,
        registration_identifier: 'gone',
        assignment_scope: 'account_wide',
        modules: ['memory'],
        machine: 'attic',
      });
      const path = `/platform_api/v1/executors/${revoked.id}/revoke`;
      await node.http('POST', path, { token: account.platformToken });
      const console = await signedIn('#/executors');
      const box = await console.row('Build box').innerText();
      for (const word of [runner.id, 'runner', 'active', 'online', 'build-box', 'tools', 'account wide', '1'])
        expect(box).toContain(word);
      expect(await console.row('Gone').innerText()).toMatch(
        /tool provider\s+revoked\s+not yet seen[^]*attic\s+memory/,
      );
      expect(await console.row('<img').innerText()).toContain(MARKUP);
      expect(await console.row('invoice').innerText()).toContain(TURNED_SHOWN);
      expect(await console.page.locator('img, main script').count()).toBe(0);
    });
  });

  describe('runs', () => {
    it('are shown page by page, newest first, and opened by a link or an id', async () => {
      const run = await newRun(node, agent, runner);
      await addRuns(node, run, 120, 0);
      const console = await signedIn('#/runs');
      const { page } = console;
      const rows = page.locator('tbody tr');
      const first = await rows.first().innerText();
      expect(await rows.count()).toBe(50);
      await page.getByRole('button', { name: 'Next page' }).click();
      await page.getByText('Page 2').waitFor();
      expect(await rows.first().innerText()).not.toBe(first);
      expect(await rows.count()).toBe(50);
      await page.getByRole('button', { name: 'Previous page' }).click();
      await page.getByText('Page 1').waitFor();
      expect(await rows.first().innerText()).toBe(first);
      await page.getByLabel('Run id').fill(run);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: `Run ${run}` }).waitFor();
    });

    it('are followed: a task appears, moves and settles without a hand', async () => {
      const run = await newRun(node, agent, runner);
      const console = await signedIn(`#/runs/${run}`);
      const { page } = console;
      await page.getByText('The run has accepted no task.').waitFor();
      await page.getByText('live', { exact: true }).waitFor();
      const task = await parked(node, agent, run, callStep('read', { key: 'look' }));
      await console.row('look').getByText('dispatched').waitFor();
      const claim_token = await claimed(door, task);
      await door.ask('commit', { ...task, claim_token, content: 'seen' });
      await console.row('look').getByText('completed').waitFor();
      expect(await console.row('look').innerText()).toMatch(/Build box[^]*Build box[^]*seen$/);
      await page.getByText('1 task · 1 completed').waitFor();
      await page.locator('dl').getByText('completed', { exact: true }).waitFor();
    });

    it('are shown as they are in the end, however fast their tasks change while they are read', async () => {
      const run = await newRun(node, agent, runner);
      const { page } = await signedIn(`#/runs/${run}`);
      await page.getByText('live', { exact: true }).waitFor();
      const keys = Array.from({ length: 40 }, (_, at) => `quick-${at}`);
      await accept(
        node,
        agent,
        run,
        keys.map((key) => callStep('read', { key })),
      );
      await Promise.all(keys.map((key) => settle(node, run, key)));
      await page.getByText('40 tasks · 40 completed').waitFor();
      const settled = page.getByRole('region', { name: 'Tasks' }).getByText('completed', { exact: true });
      await settled.nth(39).waitFor();
      expect(await settled.count()).toBe(40);
    });

    it('of 10,000 tasks show fifty of them, and count them all', async () => {
      const run = await newRun(node, agent, runner);
      await addSettledTasks(node, run, 10_000, 0);
      const { page } = await signedIn(`#/runs/${run}`);
      await page.getByText('10,000 tasks · 10,000 completed').waitFor({ timeout: 60_000 });
      expect(await page.locator('section').last().locator('tbody tr').count()).toBe(50);
      await page.getByRole('button', { name: 'Next page' }).click();
      await page.getByText('Page 2').waitFor();
      await page.getByRole('link', { name: 'n51', exact: true }).waitFor();
    }, 90_000);

    it('show what may have been touched, per runner, and what was captured', async () => {
      const other = await newRunner(node, account, { display_name: 'Untouched box' });
      const configuration = { runner_executor_public_ids: [runner.id, other.id] };
      const run = await newRun(node, agent, runner, { configuration });
      const console = await signedIn(`#/runs/${run}`);
      const { page } = console;
      const heading = page.getByRole('heading', { name: /^Effects/ });
      await page.getByText('no write was claimed on any runner').waitFor();
      expect(await heading.innerText()).toMatch(/untouched$/);
      const task = await parked(node, agent, run, callStep('write', { key: 'note' }));
      await decide(task, 'approve');
      const claim_token = await claimed(door, task);
      await door.ask('commit', {
        ...task,
        claim_token,
        content: 'ok',
        metadata: { checkpoint: { store: MARKUP } },
      });
      await page.getByText('an effect may have happened').waitFor();
      const touched = page
        .getByRole('region', { name: 'Effects' })
        .getByRole('row')
        .filter({ hasText: runner.id });
      expect(await touched.innerText()).toMatch(/Build box[^]*touched[^]*note/);
      await touched.getByText(MARKUP.replaceAll('"', '\\"')).waitFor();
      expect(await console.row('Untouched box').innerText()).toContain('untouched');
    });

    it('that are pruned say so, and that their evidence is not complete', async () => {
      const run = await newRun(node, agent, runner);
      await addSettledTasks(node, run, 1, 0);
      await age(node, run, 400);
      await setRetention(node, account, 300);
      await prune(node, account);
      const { page } = await signedIn(`#/runs/${run}`);
      await page.getByText('Retention has pruned the tasks.').waitFor();
      await page.getByText('The evidence is not complete').waitFor();
    });

    it('that are not there are refused, with a way back', async () => {
      const { page } = await signedIn('#/runs/01900000-0000-7000-8000-000000000000');
      await page.getByText('(not_found)').waitFor();
      await page.getByRole('button', { name: 'Try again' }).waitFor();
      await page.getByRole('link', { name: 'Executors' }).click();
      await page.getByRole('heading', { name: 'Executors' }).waitFor();
    });
  });

  describe('a task', () => {
    it('shows what its runner sent as text, folded where it is long', async () => {
      const run = await newRun(node, agent, runner);
      const input = `{"10":"${TURNED}","2":12345678901234567890,"path":"a","path":"b"}`;
      const body = `{"steps":[{"call":{"name":"read","key":"look","input":${input}}}]}`;
      await node.http('POST', `/agent_api/v1/runs/${run}/tasks`, { token: agent.token, body });
      const task = { run_public_id: run, task_key: 'look' };
      const claim_token = await claimed(door, task);
      const content = `${MARKUP}${'x'.repeat(100_000)}the end`;
      await door.ask('commit', { ...task, claim_token, content, title: TURNED, is_error: true });
      const console = await signedIn(`#/runs/${run}/tasks/look`);
      const { page } = console;
      const shown = page.getByLabel('Input', { exact: true });
      await shown.waitFor();
      expect(await shown.innerText()).toBe(
        `{\n  "10": "${TURNED_SHOWN}",\n  "2": 12345678901234567890,\n  "path": "a",\n  "path": "b"\n}`,
      );
      const folded = page.getByLabel('Content', { exact: true });
      expect(await folded.isVisible()).toBe(false);
      await page.getByText('Content 97.7 KiB').click();
      await folded.waitFor();
      expect(await folded.innerText()).toBe(content);
      expect(await page.getByText(TURNED_SHOWN).first().isVisible()).toBe(true);
      expect(await page.locator('img, main script').count()).toBe(0);
      for (const fact of ['Reports an error', 'Claimed by', 'Addressed to', 'Generation'])
        await page.getByText(fact, { exact: true }).waitFor();
    });

    it('is decided on its own page, and followed to what can be done about it', async () => {
      await serve({ ...WRITE, idempotency: 'keyed' });
      const task = await resting('keyed');
      const console = await signedIn(`#/runs/${task.run_public_id}/tasks/keyed`);
      const { page } = console;
      await page.getByRole('button', { name: 'Approve' }).click();
      await console.dialog().getByRole('button', { name: 'Approve this call' }).click();
      await console.said().getByText('is on its way').waitFor();
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      await claimed(door, task);
      await pastDeadline(node, task);
      await page.getByText('Retry it with the same key').waitFor();
      expect(await page.locator('dl').first().innerText()).toMatch(/uncertain[^]*tool_uncertain/);
      await serve();
    });

    it('is followed: progress, and the error that it ends with', async () => {
      const run = await newRun(node, agent, runner);
      const task = await parked(node, agent, run, callStep('read', { key: 'told' }));
      const { page } = await signedIn(`#/runs/${run}/tasks/told`);
      await page.getByText('live', { exact: true }).waitFor();
      const claim_token = await claimed(door, task);
      await page.getByText('Claimed by', { exact: true }).waitFor();
      await door.ask('progress', { frame: { ...task, claim_token, text_tail: `half ${MARKUP}` } });
      await page.getByText(`half ${MARKUP}`).waitFor();
      await door.ask('commit', { ...task, claim_token, outcome: 'failed', content: 'no' });
      await page.getByText('tool_failed').waitFor();
      expect(await page.getByLabel('Progress').isVisible()).toBe(false);
    });
  });

  describe('approvals', () => {
    it('approve in two steps: what is confirmed is target, tool, alias, effect and input', async () => {
      const task = await resting('two-steps', { path: TURNED, text: MARKUP });
      const console = await signedIn('#/approvals');
      const dialog = console.dialog();
      await console.row('two-steps').getByRole('button', { name: 'Approve' }).click();
      const text = await dialog.innerText();
      for (const part of [
        'Build box',
        runner.id,
        'Served tool\nwrite',
        'Called as\nwrite',
        task.run_public_id,
      ])
        expect(text).toContain(part);
      for (const part of [
        'Kind\nwrite',
        'Destructive\nyes',
        'Scope\nopen',
        TURNED_SHOWN,
        MARKUP.replaceAll('"', '\\"'),
      ])
        expect(text).toContain(part);
      expect((await now(task)).status).toBe('needs_approval');
      await dialog.getByRole('button', { name: 'Approve this call' }).click();
      await console.said().getByText('Approved: write on Build box is on its way.').waitFor();
      await console.page.getByRole('row').filter({ hasText: 'two-steps' }).waitFor({ state: 'detached' });
      expect(await now(task)).toMatchObject({
        status: 'dispatched',
        approval: { origin: 'human', decided_by: account.adminId },
      });
    });

    it('deny with the reason that the agent is told, and nothing on cancelling', async () => {
      const task = await resting('denied');
      const console = await signedIn('#/approvals');
      const deny = console.row('denied').getByRole('button', { name: 'Deny' });
      await deny.click();
      await console.dialog().getByRole('button', { name: 'Cancel' }).click();
      expect((await now(task)).status).toBe('needs_approval');
      await deny.click();
      await console.page.getByLabel('Reason').fill('Not on a Friday');
      await console.dialog().getByRole('button', { name: 'Deny this call' }).click();
      await console.said().getByText('Denied: write on Build box.').waitFor();
      expect(await now(task)).toMatchObject({
        status: 'failed',
        error: { key: 'approval_denied', detail: 'Not on a Friday' },
      });
    });

    it('show the refusal where somebody else has decided meanwhile', async () => {
      const task = await resting('raced');
      const console = await signedIn('#/approvals');
      await console.row('raced').getByRole('button', { name: 'Approve' }).click();
      await decide(task, 'deny');
      await console.dialog().getByRole('button', { name: 'Approve this call' }).click();
      await console.dialog().getByText('Nothing was decided').waitFor();
      expect(await console.dialog().getByRole('alert').innerText()).toContain('(not_awaiting_approval)');
      await console.dialog().getByRole('button', { name: 'Close' }).click();
      await console.page.getByRole('row').filter({ hasText: 'raced' }).waitFor({ state: 'detached' });
      expect(await now(task)).toMatchObject({ status: 'failed', error: { key: 'approval_denied' } });
    });

    it('decide nothing where the call rests with something else than was looked at', async () => {
      await serve({ ...WRITE, destructive: false });
      const task = await resting('changed');
      const console = await signedIn('#/approvals');
      const dialog = console.dialog();
      const confirm = dialog.getByRole('button', { name: 'Approve this call' });
      await console.row('changed').getByRole('button', { name: 'Approve' }).click();
      expect(await dialog.innerText()).toContain('Destructive\nno');
      await serve(WRITE);
      expect((await decide(task, 'approve')).body.task.status).toBe('needs_approval');
      await confirm.click();
      await dialog.getByText('The call has changed since you looked').waitFor();
      expect(await dialog.innerText()).toContain('Destructive\nyes');
      expect((await now(task)).status).toBe('needs_approval');
      await confirm.click();
      await console.said().getByText('is on its way').waitFor();
    });

    it('say that a call rests again where its target announces something else now', async () => {
      await resting('again');
      await serve({ ...WRITE, reconciliation: 'lookup' });
      const console = await signedIn('#/approvals');
      await console.row('again').getByRole('button', { name: 'Approve' }).click();
      await console.dialog().getByRole('button', { name: 'Approve this call' }).click();
      await console.said().getByText('rests again').waitFor();
      await console.row('again').waitFor();
      await serve();
    });

    it('appear while somebody looks, and the list says when there is none', async () => {
      const { body } = await node.http('GET', '/platform_api/v1/approvals', { token: account.platformToken });
      for (const task of (body as { tasks: TaskName[] }).tasks) await decide(task, 'deny');
      const console = await signedIn('#/approvals');
      await console.page.getByText('Nothing rests for a decision.').waitFor();
      await resting('appears');
      await console.row('appears').waitFor();
    });

    it('are decided by keyboard alone, from signing in on', async () => {
      const task = await resting('by-keyboard');
      const console = await open();
      const { page } = console;
      await page.keyboard.type(account.platformToken);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Mesh' }).waitFor();
      await console.tabTo('Approvals', 'Shift+Tab');
      await page.keyboard.press('Enter');
      await console.row('by-keyboard').waitFor();
      await console.tabTo('Deny write, by-keyboard…');
      await page.keyboard.press('Enter');
      await console.tabTo('Reason (optional; the agent is told)');
      await page.keyboard.type('by hand');
      await console.tabTo('Deny this call');
      await page.keyboard.press('Enter');
      await console.said().getByText('Denied').waitFor();
      expect(await now(task)).toMatchObject({ error: { key: 'approval_denied', detail: 'by hand' } });
      await page.keyboard.press('Shift+Tab');
      expect(await page.evaluate('document.activeElement !== document.body')).toBe(true);
    });
  });

  describe('the mesh', () => {
    const service = (name: string, endpoints: number): object => ({
      name,
      id: '01900000-0000-7000-8000-000000000001',
      version: '1.0.0',
      executor_public_id: '01900000-0000-7000-8000-000000000001',
      endpoints: Array.from({ length: endpoints }, (_, at) => ({
        name: `tool-${at}`,
        subject: `nexus.v1.tool.x.1.tool-${at}`,
        metadata: { description: MARKUP },
      })),
      state: 'answering',
    });

    /** Opens the mesh as it would be with this answer. */
    async function withMesh(mesh: object): Promise<ConsolePage> {
      const console = await open('#/mesh');
      await console.page.route('**/platform_api/v1/mesh', (route) => route.fulfill({ json: mesh }));
      await console.signIn(account.platformToken);
      return console;
    }

    it('shows machines, their services and tools, what is not answering and what nobody expects', async () => {
      const console = await withMesh({
        asked_at: '2026-01-01T12:00:00.000Z',
        gathered_ms: 312,
        machines: [{ machine: 'build-box', services: [service('tools', 2)] }],
        not_answering: [
          { module: 'memory', machine: 'attic', executor_public_id: runner.id, last_seen_at: null },
        ],
        unexpected: [{ service: { name: TURNED, id: 'stranger' }, reason: MARKUP }],
        malformed: 3,
      });
      const { page } = console;
      await page.getByText('Asked 2026-01-01 12:00:00, answers gathered for 312 ms.').waitFor();
      expect(await page.locator('dl').innerText()).toMatch(
        /Machines\s+1\s+Services\s+1\s+Tools\s+2[^]*Malformed answers\s+3/,
      );
      expect(await console.row('memory').innerText()).toMatch(/^memory\s+attic/);
      expect(await console.row('invoice').innerText()).toBe(`${TURNED_SHOWN} (stranger)\t${MARKUP}`);
      await page.getByText('2 tools').click();
      expect(await page.getByRole('listitem').first().innerText()).toBe(`tool-0\n${MARKUP}`);
      expect(await page.locator('img, main script').count()).toBe(0);
    });

    it('of 10,000 machines shows a hundred at a time, and finds the others', async () => {
      const machines = Array.from({ length: 10_000 }, (_, at) => ({
        machine: `machine-${at}`,
        services: [service(`module-${at}`, 1)],
      }));
      const { page } = await withMesh({
        asked_at: '2026-01-01T12:00:00.000Z',
        gathered_ms: 312,
        machines,
        not_answering: [],
        unexpected: [],
        malformed: 0,
      });
      await page.getByRole('button', { name: 'Show more (9,900 left)' }).click();
      await page.getByRole('button', { name: 'Show more (9,800 left)' }).waitFor();
      await page.getByLabel('Find').fill('machine-9999');
      await page.getByRole('heading', { name: 'machine-9999' }).waitFor();
      expect(await page.getByRole('heading', { level: 3 }).count()).toBe(1);
    });
  });

  describe('a node that is not well', () => {
    it('is told, the last page stays as of its time, and the page recovers by itself', async () => {
      await resting('stays');
      const console = await signedIn('#/approvals');
      const { page } = console;
      const fault = page.getByRole('alert').filter({ hasText: '(unavailable)' });
      await console.row('stays').waitFor();
      const body = '{"error":{"code":"unavailable","message":"Try again soon."}}';
      await page.route('**/platform_api/**', (route) => route.fulfill({ status: 503, body }));
      await page.getByRole('button', { name: 'Refresh' }).click();
      await fault.waitFor();
      expect(await console.row('stays').isVisible()).toBe(true);
      await page.unroute('**/platform_api/**');
      await fault.waitFor({ state: 'detached' });
      expect(await console.row('stays').isVisible()).toBe(true);
    });

    it('may leave open whether a decision was taken: that is said, and the session goes on', async () => {
      await resting('unknown');
      const console = await signedIn('#/approvals');
      await console.row('unknown').getByRole('button', { name: 'Approve' }).click();
      await console.page.route('**/approve', (route) => route.abort());
      await console.dialog().getByRole('button', { name: 'Approve this call' }).click();
      await console.dialog().getByText('Whether the decision was taken is not known').waitFor();
      await console.page.unroute('**/approve');
      await console.dialog().getByRole('button', { name: 'Approve this call' }).click();
      await console.said().getByText('is on its way').waitFor();
    });
  });
});
