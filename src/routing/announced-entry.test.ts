import { describe, expect, it } from '@jest/globals';
import type { ServedTool } from '../announcement/announcement-directory.js';
import type { EffectProfile } from '../kernel/effect-profile.js';
import { entryDigest } from './announced-entry.js';

const profile: EffectProfile = {
  kind: 'write',
  destructive: true,
  effect_scope: 'closed',
  idempotency: 'none',
  reconciliation: 'none',
};

const entry = (fields: Partial<ServedTool> = {}): ServedTool => ({
  name: 'bash',
  effectProfile: profile,
  effectProfileText: JSON.stringify(profile),
  description: 'Runs a command',
  descriptionText: '"Runs a command"',
  inputSchemaText: '{"type":"object"}',
  modelVisible: true,
  ...fields,
});
const { descriptionText: _description, ...undescribed } = entry();
const { inputSchemaText: _schema, ...schemaless } = entry();

describe('What a resting call is approved against', () => {
  it.each([
    ['profile', entry({ effectProfileText: JSON.stringify({ ...profile, destructive: false }) })],
    ['description', entry({ descriptionText: '"Runs two commands"' })],
    ['a description that is gone', undescribed],
    ['schema', entry({ inputSchemaText: '{"type":"object","required":["path"]}' })],
    ['a schema that is gone', schemaless],
  ])('changes with the entry’s %s', (_name, changed) => {
    expect(entryDigest([changed])).not.toBe(entryDigest([entry()]));
  });

  it.each([
    ['timeout', entry({ timeoutMs: 5 })],
    ['module', entry({ module: 'other' })],
  ])('does not change with its %s', (_name, changed) => {
    expect(entryDigest([changed])).toBe(entryDigest([entry()]));
  });

  it('keeps its parts apart', () => {
    const one = entry({ descriptionText: '"a"', inputSchemaText: '"b"' });
    const other = entry({ descriptionText: '"a","b"', inputSchemaText: '' });
    expect(entryDigest([one])).not.toBe(entryDigest([other]));
  });

  it('is for a pool the set of its entries', () => {
    const other = entry({ descriptionText: '"Another"' });
    expect(entryDigest([entry(), other])).toBe(entryDigest([other, entry(), entry()]));
    expect(entryDigest([entry(), other])).not.toBe(entryDigest([entry()]));
  });

  it('is nothing for the kernel’s own tools', () => {
    expect(entryDigest([])).toBeNull();
  });
});
