import { isReservedModuleName } from '../kernel/names.js';

const MACHINE_MAX = 64;

/**
 * The name of a machine that nobody named: a slug of the registration identifier or display name (chapter 1). Always a
 * free name: never empty, never reserved.
 */
export function machineSlug(text: string): string {
  const slug = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '');
  const name = isReservedModuleName(slug) ? `machine-${slug}` : slug;
  return name.slice(0, MACHINE_MAX).replace(/-+$/, '') || 'machine';
}
