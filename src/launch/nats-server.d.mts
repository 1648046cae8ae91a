import type { Service } from './child.mjs';

export function startNats(options: {
  dir: string;
  port: number;
  configOf: (place: { listen: string; dir: string }) => string;
}): Promise<Service>;
