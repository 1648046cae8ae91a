import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findToolchains, versionIn } from './toolchains.js';

describe('Toolchains', () => {
  it.each([
    ['git version 2.39.5', '2.39.5'],
    ['v20.20.2', '20.20.2'],
    ['go version go1.22.1 linux/amd64', '1.22.1'],
    ['openjdk version "21.0.2" 2024-01-16', '21.0.2'],
    ['gcc (Debian 12.2.0-14) 12.2.0', '12.2.0-14'],
    ['usage: make', undefined],
  ])('tell their version in %p', (words, version) => {
    expect(versionIn(words)).toBe(version);
  });

  it('are those found on the path, in order, and unknown where they tell no version', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'toolchains-'));
    try {
      const program = async (name: string, script: string): Promise<void> => {
        await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
        await chmod(join(folder, name), 0o755);
      };
      await program('node', 'echo v99.1.2');
      await program('git', 'echo no >&2; exit 1');
      await writeFile(join(folder, 'go'), 'may not be run');
      expect(Object.entries(await findToolchains({ PATH: `${folder}:/nowhere` }))).toEqual([
        ['git', 'unknown'],
        ['node', '99.1.2'],
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
