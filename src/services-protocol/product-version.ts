import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

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
