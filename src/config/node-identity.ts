import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { v7 } from 'uuid';

/** This process among the nodes: its instance id on the bus. New at every start. */
export const NODE_ID = v7();

/** Where this process runs, as a machine's name that no executor may have (chapter 1). */
export const NODE_MACHINE = `nexus-${hostname()
  .toLowerCase()
  .replace(/[^a-z0-9_-]+/g, '-')}`.slice(0, 64);

/** The product's version, as plain semver; `package.json` is found from the source and from `dist` alike. */
export const PRODUCT_VERSION = readVersion();

function readVersion(): string {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      const file = readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
      const { name, version } = JSON.parse(file) as { name: string; version: string };
      if (name === 'nexus') return version;
    } catch {
      // not there: try the next
    }
  }
  throw new Error('package.json of nexus was not found');
}
