/**
 * The names that the kernel keeps for itself, wire → canonical (chapter 2). `skill` (`nexus.skill.load`) is announced by
 * executors and the memory family may be announced by a provider: neither is kept.
 */
const KEPT: ReadonlyMap<string, string> = new Map([
  ['runners_list', 'nexus.runners.list'],
  ['tool_search', 'nexus.tools.search'],
  ['tool_call', 'nexus.tools.call'],
  ['mesh_machines', 'nexus.console.machines'],
  ['mesh_services', 'nexus.console.services'],
  ['mesh_tools', 'nexus.console.tools'],
  ['mesh_describe', 'nexus.console.describe'],
  ['mesh_call', 'nexus.console.call'],
]);

/** The kernel's names that an account may give to its providers, as the wire spells them (chapters 2 and 5). */
export const OVERRIDABLE_NAMES = [
  'memory_read',
  'memory_write',
  'memory_edit',
  'memory_ls',
  'memory_grep',
  'memory_delete',
] as const;

const OVERRIDABLE: ReadonlySet<string> = new Set(OVERRIDABLE_NAMES);

/** Characters of a namespace that a message shows. */
const SHOWN_NAMESPACE = 64;

/**
 * The namespace that keeps this name, in either spelling: `nexus.tools` for `tool_search`; undefined for a free name. Every
 * other name beginning with `nexus.` is kept too, under its first two segments. A dotted name is no served name either:
 * ask this first, so that the refusal says why.
 */
export function reservedNamespace(name: string): string | undefined {
  const canonical = KEPT.get(name) ?? name;
  if (!canonical.startsWith('nexus.')) return undefined;
  if (canonical === 'nexus.skill.load' || canonical.startsWith('nexus.memory.')) return undefined;
  const [root, family] = canonical.split('.', 2);
  return `${root}.${family}`.slice(0, SHOWN_NAMESPACE);
}

/** Whether the name is the kernel's, and yet goes to a provider where the account opted in (chapter 5). */
export const isOverridable = (name: unknown): name is (typeof OVERRIDABLE_NAMES)[number] =>
  OVERRIDABLE.has(name as string);
