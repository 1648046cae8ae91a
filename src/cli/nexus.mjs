#!/usr/bin/env node
// The `nexus` command: runs what `npm start` compiled, and builds nothing itself.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = new URL('../../dist/src/cli/main.js', import.meta.url);

if (existsSync(fileURLToPath(program))) {
  await import(program.href);
} else {
  process.stderr.write(
    'nexus: nothing is compiled yet; run `npm start` once (or `npm run build`), then try again\n',
  );
  process.exitCode = 1;
}
