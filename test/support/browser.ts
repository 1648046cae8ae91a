import { existsSync } from 'node:fs';
import { describe } from '@jest/globals';
import { type Browser, chromium } from 'playwright-core';

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

/** `describe` for tests that need a browser: skipped, and said so, where there is none. */
export function describeInBrowser(name: string, tests: () => void): void {
  const isPresent = existsSync(CHROMIUM);
  if (!isPresent) process.stderr.write(`SKIPPED: no ${CHROMIUM}: ${name} (set CHROMIUM_BIN)\n`);
  (isPresent ? describe : describe.skip)(name, tests);
}

export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
