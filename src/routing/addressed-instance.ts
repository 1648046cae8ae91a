import { type Refusal, refuse } from '../errors/refusal.js';
import { addressText, type MeshAddress } from '../kernel/mesh-address.js';
import type { AddressedRow } from './addressed.sql.js';

/** Whom an address means: one runner, the pool of providers, or the principal's own application. */
export type Instance =
  | { readonly to: 'runner'; readonly executorId: string }
  | { readonly to: 'tool_provider' }
  | { readonly to: 'agent_application' };

/** An address that a refusal offers instead. */
interface Choice {
  readonly address: string;
  readonly instance: Instance;
  readonly display_name?: string;
}

/** Choices that `error.details` names at most, as for an announcement (chapter 2). */
const DETAILS_MAX = 20;

/**
 * The one instance that an address means, of the executors that serve its tool (chapter 8); undefined where nobody does.
 * Nothing is picked silently: throws `ambiguous_address` with the choices, and `invalid_tool_route` for a machine where any
 * provider may take the call. Whether somebody answers on the bus has no part in it.
 */
export function instanceOf(
  address: MeshAddress,
  rows: readonly AddressedRow[],
  path: string,
): Instance | undefined {
  const inside = rows.filter(({ module }) => module === address.module);
  const isPool = inside.some(({ kind }) => kind === 'tool_provider');
  if (address.machine !== undefined) {
    const [one] = inside;
    if (!one || !isPool) return one && toRow(one);
    const pool = addressText({ ...address, machine: undefined });
    throw refuse('invalid_tool_route', `${path} names a machine, but any provider may serve ${pool}`);
  }
  const choices = choicesOf(address, inside, isPool);
  const [only] = choices;
  if (choices.length > 1) throw ambiguous(path, choices);
  if (only?.instance.to !== 'tool_provider') return only?.instance;
  // a pool is told by the tool's name alone: one of another module would take the call as well
  const pools = [
    address.module,
    ...rows.filter(({ kind }) => kind === 'tool_provider').map((row) => row.module),
  ];
  const names = [...new Set(pools)].map((module) => addressText({ ...address, module }));
  if (names.length > 1) {
    throw ambiguous(
      path,
      names.map((name) => ({ address: name, instance: only.instance })),
    );
  }
  return only.instance;
}

function choicesOf(address: MeshAddress, inside: readonly AddressedRow[], isPool: boolean): Choice[] {
  const single = inside
    .filter(({ kind }) => kind !== 'tool_provider')
    .map((row) => ({
      address: addressText({ ...address, machine: row.machine }),
      instance: toRow(row),
      display_name: row.display_name,
    }));
  const pool: Choice = { address: addressText(address), instance: { to: 'tool_provider' } };
  return isPool ? [...single, pool] : single;
}

const toRow = ({ id, kind }: AddressedRow): Instance =>
  kind === 'runner' ? { to: 'runner', executorId: id } : { to: kind };

function ambiguous(path: string, choices: readonly Choice[]): Refusal {
  const details = choices.slice(0, DETAILS_MAX).map(({ address, instance, display_name }) => ({
    address,
    ...(instance.to === 'runner' ? { executor_public_id: instance.executorId } : {}),
    ...(display_name === undefined ? {} : { display_name }),
  }));
  return refuse('ambiguous_address', `${path} may mean ${choices.length} instances`, details);
}
