import { isObject } from '../kernel/json/is-object.js';
import type { AnnouncementFaults } from './announcement-faults.js';
import { checkServedDocuments } from './served-documents.js';
import { checkServedTools } from './served-tools.js';

export type Delivery = 'claim' | 'serve';
export type Body = Readonly<Record<string, unknown>>;

const DELIVERIES: readonly unknown[] = ['claim', 'serve'] satisfies Delivery[];
const MAX_IN_FLIGHT_LIMIT = 1024;

/** Notes what is wrong with a member of an announcement (chapter 2); unknown ones must only be storable. */
export function checkMember(
  key: string,
  value: unknown,
  modules: readonly string[],
  faults: AnnouncementFaults,
): void {
  switch (key) {
    case 'tools':
      if (Array.isArray(value)) checkServedTools(value, modules, faults);
      else faults.add(key, 'must be a list of entries');
      break;
    case 'documents':
      if (Array.isArray(value)) checkServedDocuments(value, faults);
      else faults.add(key, 'must be a list of entries');
      break;
    case 'environment':
      if (!isObject(value)) faults.add(key, 'must be an object');
      else faults.addUnstorable('', key, value);
      break;
    case 'delivery':
      if (!DELIVERIES.includes(value)) faults.add(key, `must be one of ${DELIVERIES.join(', ')}`);
      break;
    case 'max_in_flight':
      if (!isMaxInFlight(value)) faults.add(key, `must be an integer from 1 to ${MAX_IN_FLIGHT_LIMIT}`);
      break;
    default:
      faults.addUnstorable('', key, value);
  }
}

const isMaxInFlight = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MAX_IN_FLIGHT_LIMIT;
