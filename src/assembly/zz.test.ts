import { it } from '@jest/globals';
import { readAnnouncement } from '../announcement/announcement-record.js';
import { assemble } from './assemble.js';
import { FrozenDeclaration } from './frozen-declaration.js';
import { readConfiguration } from './configuration-grammar.js';
it('t', () => {
  const A = '01990000-0000-7000-8000-00000000000a';
  const tools = Array.from({ length: 50 }, (_, i) => JSON.stringify({ name: 't' + i, effect_profile: { kind: 'pure' }, description: 'd'.repeat(2500), input_schema: { type: 'object', d: 'x'.repeat(2500) } }));
  const announcement = readAnnouncement({ executor_id: A, account_id: 'a' as never, version: '1', tools: `[${tools}]`, environment: '{}', documents: '[]', delivery: 'claim', max_in_flight: 1, announced_at: new Date() });
  const text = JSON.stringify({ runner_executor_public_ids: [A] });
  const facts = { configuration: readConfiguration(text), defaultRunnerId: A, namesCandidates: true, eligible: new Map([[A, { id: A, displayName: 'x', announcement }]]) };
  const p50 = (f: () => unknown) => { const t = Array.from({ length: 2000 }, () => { const s = performance.now(); f(); return performance.now() - s; }).sort((a, b) => a - b); return t[1000]; };
  const d = assemble(facts);
  console.log('assemble', p50(() => assemble(facts)), 'frozen', p50(() => FrozenDeclaration.read(d.toolDefinitions.text, d.environment.text)), 'grammar', p50(() => readConfiguration(text)));
});
