import { arch, hostname, platform, release } from 'node:os';
import type { RootFolder } from './root-folder.js';
import { findToolchains } from './toolchains.js';

/** What the runner announces of its machine. Nexus never interprets it; people and models read it. */
export async function describeEnvironment(root: RootFolder): Promise<object> {
  return {
    os: platform(),
    os_release: release(),
    arch: arch(),
    hostname: hostname(),
    root: root.path,
    toolchains: await findToolchains(),
  };
}
