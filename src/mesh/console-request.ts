import { wordsOf } from '../discovery/discovery-request.js';
import type { VerbInput } from '../doors/input.js';
import { type PageRequest, pageRequest } from '../doors/page.js';
import { refuse } from '../errors/refusal.js';
import { ADDRESS_RULE, type MeshAddress, parseAddress } from '../kernel/mesh-address.js';
import { isModuleName } from '../kernel/names.js';

/** Names of machines and services on a page when nobody says: few accounts have more. */
const NAMES = 200;

type Asked = Pick<VerbInput, 'field'>;

export interface ToolsRequest extends PageRequest<MeshAddress> {
  /** Lower-case words, each of which must be found. */
  readonly words: readonly string[];
}

/** A page of machines or of services. Throws `parameter_invalid`. */
export const consolePage = (asked: Asked): PageRequest<string> => pageRequest(asked, isModuleName, NAMES);

/** Reads `query`, `limit` and `after`. Throws `parameter_invalid`. */
export function toolsRequest(asked: Asked): ToolsRequest {
  const { limit, after } = pageRequest(asked, isAddress);
  return { limit, after: parseAddress(after), words: wordsOf(asked, 'query') };
}

/** Reads `address`. Throws `parameter_missing` and `parameter_invalid`. */
export function describedAddress(asked: Asked): MeshAddress {
  const value = asked.field('address');
  if (value === undefined) throw refuse('parameter_missing', 'address is required');
  const address = parseAddress(value);
  if (!address) throw refuse('parameter_invalid', `address ${ADDRESS_RULE}`);
  return address;
}

const isAddress = (key: unknown): key is string => parseAddress(key) !== undefined;
