/** A runner that answers what it is sent, at once: `node echo-runner.mjs <registration file>`, over the built SDK. */
import { readFileSync } from 'node:fs';
import { connectRunner } from '../../dist/src/runner/sdk/index.js';

const ECHO = {
  name: 'echo',
  effect_profile: {
    kind: 'read_only',
    destructive: false,
    effect_scope: 'closed',
    idempotency: 'intrinsic',
    reconciliation: 'none',
  },
  description: 'Answers the text it is sent',
  input_schema: { type: 'object', properties: { text: { type: 'string' } } },
  handler: (input) => Promise.resolve(input.text),
};

const registration = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const runner = await connectRunner({ registration, maxConcurrent: 256 });
await runner.announce({ tools: [ECHO] });
process.send?.('ready');
process.on('SIGTERM', () => void runner.close({ graceMs: 1_000 }).then(() => process.exit(0)));
