import type { Service } from './child.mjs';

export function startNats(options: { dir: string; port: number }): Promise<Service>;
