import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ScratchRoot } from '../../../test/runner/scratch-root.js';
import type { EffectProfile } from '../sdk/wire.js';
import type { RootFolder } from './root-folder.js';
import { servedTools } from './served-tools.js';

let scratch: ScratchRoot;
let root: RootFolder;
beforeAll(async () => {
  scratch = await ScratchRoot.make();
  root = await scratch.root();
});
afterAll(() => scratch.remove());

const short = ({ kind, destructive, effect_scope, idempotency, reconciliation }: EffectProfile): string =>
  [kind, destructive ? 'destructive' : 'harmless', effect_scope, idempotency, reconciliation].join(' ');

describe('The reference runner serves', () => {
  it('each tool with an honest effect profile', () => {
    const tools = servedTools(root, { allowBash: true });
    expect(
      Object.fromEntries(tools.map(({ name, effect_profile }) => [name, short(effect_profile)])),
    ).toEqual({
      read: 'read_only harmless closed intrinsic none',
      write: 'write destructive closed intrinsic none',
      edit: 'write destructive closed none none',
      ls: 'read_only harmless closed intrinsic none',
      grep: 'read_only harmless closed intrinsic none',
      files_bytes: 'read_only harmless closed intrinsic none',
      bash: 'write destructive open none none',
    });
  });

  it('bash only where it is allowed, saying plainly what it is', () => {
    expect(servedTools(root, { allowBash: false }).map(({ name }) => name)).not.toContain('bash');
    const bash = servedTools(root, { allowBash: true }).find(({ name }) => name === 'bash');
    expect(bash?.description).toContain('with all rights of the account that the runner runs under');
  });

  it('files_bytes as an operator capability: without description and schema no model sees it', () => {
    const bytes = servedTools(root, { allowBash: false }).find(({ name }) => name === 'files_bytes');
    expect(Object.keys(bytes ?? {}).sort()).toEqual(['effect_profile', 'handler', 'name', 'timeout_ms']);
  });

  it('every other tool with a description and a closed object schema', () => {
    for (const { name, description, input_schema } of servedTools(root, { allowBash: true })) {
      if (name === 'files_bytes') continue;
      expect(description).toMatch(/\S/);
      expect(input_schema).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });
});
