import type { Browser, Locator, Page } from 'playwright-core';
import type { TestAccount } from '../support/factories.js';
import type { TestNode } from '../support/node.js';

/** The console in a browser of its own: what it asked for, and what it must never do. */
export class ConsolePage {
  /** Faults of scripts, and whatever the content security policy stopped. */
  readonly faults: string[] = [];
  /** The addresses of every request. */
  readonly asked: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly url: string,
  ) {}

  /** Opens the page at an address, signed out. */
  static async open(browser: Browser, node: TestNode, hash = ''): Promise<ConsolePage> {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC' });
    const made = new ConsolePage(await context.newPage(), `${node.url}/console`);
    made.page.on('pageerror', (fault) => made.faults.push(fault.message));
    made.page.on('dialog', (dialog) => {
      made.faults.push(`a dialog said ${dialog.message()}`);
      void dialog.dismiss();
    });
    made.page.on('console', (message) => {
      const text = message.text();
      if (/^violated|content security|trusted/i.test(text)) made.faults.push(text);
    });
    made.page.on('request', (request) => made.asked.push(request.url()));
    await made.page.addInitScript({
      content: `addEventListener('securitypolicyviolation', (e) => console.error('violated ' + e.violatedDirective + ' ' + e.blockedURI))`,
    });
    await made.page.goto(`${made.url}${hash}`);
    return made;
  }

  /** Opens it and signs in. */
  static async signedIn(browser: Browser, node: TestNode, token: string, hash = ''): Promise<ConsolePage> {
    const made = await ConsolePage.open(browser, node, hash);
    await made.signIn(token);
    await made.page.getByRole('button', { name: 'Sign out' }).waitFor();
    return made;
  }

  async signIn(secret: string): Promise<void> {
    await this.page.getByLabel('Platform secret').fill(secret);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  /** Goes to a view by its address, as a link does. */
  async go(hash: string): Promise<void> {
    await this.page.goto(`${this.url}${hash}`);
  }

  /** The first row of a table that holds this text. */
  row(text: string): Locator {
    return this.page.getByRole('row').filter({ hasText: text }).first();
  }

  dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  /** What the page says to who looks and to who listens. */
  said(): Locator {
    return this.page.locator('#said');
  }

  /** Steps through the page with a key until what has this name has the focus. */
  async tabTo(name: string, key = 'Tab'): Promise<void> {
    const passed: unknown[] = [];
    for (let steps = 0; steps < 60; steps += 1) {
      await this.page.keyboard.press(key);
      const at = await this.page.evaluate(
        `(({ ariaLabel, labels, textContent }) => ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)`,
      );
      if (at === name) return;
      passed.push(at);
    }
    throw new Error(`The keyboard does not reach ${name}: ${JSON.stringify(passed)}`);
  }

  /** Everything of the page that outlives it or could be seen elsewhere, in one text. */
  async traces(): Promise<string> {
    const left: unknown = await this.page.evaluate(
      `JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href, history.state,
         document.documentElement.outerHTML, [...document.querySelectorAll('input')].map((input) => input.value)])`,
    );
    const cookies = await this.page.context().cookies();
    return JSON.stringify([left, cookies, this.asked]);
  }

  close(): Promise<void> {
    return this.page.context().close();
  }
}

/** One more platform secret of the first account's administrator. */
export async function newPlatformSecret(
  node: TestNode,
  { platformToken, adminId }: TestAccount,
): Promise<{ token: string; revoke: () => Promise<void> }> {
  const body = { name: 'console', plane: 'platform' };
  const path = `/platform_api/v1/members/${adminId}/credentials`;
  const answer = await node.http('POST', path, { token: platformToken, body });
  const { credential, secret } = answer.body as { credential: { public_id: string }; secret: string };
  return {
    token: secret,
    revoke: async () => {
      await node.http('DELETE', `/platform_api/v1/credentials/${credential.public_id}`, {
        token: platformToken,
      });
    },
  };
}
