import type { Service } from './child.mjs';

export function startPostgres(options: {
  dataDir: string;
  port: number;
  mode: 'durable' | 'test';
}): Promise<Service & { readonly data: string }>;
