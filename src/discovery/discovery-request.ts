import { type PageRequest, pageRequest } from '../doors/page.js';
import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { isUuid } from '../kernel/names.js';

export type DiscoveryKind = 'runner' | 'tool_provider';

/** Kinds that discovery shows: an agent application is addressed by name, never by id (chapter 5). */
export const DISCOVERY_KINDS: readonly DiscoveryKind[] = ['runner', 'tool_provider'];

/** Words are bounded: a person's or a model's, not a document. */
const WORDS_MAX_CHARACTERS = 256;

/** Which page of which executors a member asked for, and how much of each. */
export interface DiscoveryRequest extends PageRequest<string> {
  readonly kinds: readonly DiscoveryKind[];
  readonly view: 'whole' | 'summary';
  /** Lower-case words, each of which must be found. */
  readonly words: readonly string[];
}

/** Reads the query. Throws `parameter_invalid` for any value that is not in chapter 3. */
export function discoveryRequest(input: VerbInput): DiscoveryRequest {
  return {
    ...pageRequest(input, isUuid),
    kinds: kindsOf(input.field('kind')),
    view: viewOf(input.field('view')),
    words: wordsOf(input, 'q'),
  };
}

function kindsOf(value: unknown): readonly DiscoveryKind[] {
  if (value === undefined) return DISCOVERY_KINDS;
  const kind = DISCOVERY_KINDS.find((known) => known === value);
  if (!kind) throw refuse('parameter_invalid', `kind must be one of ${DISCOVERY_KINDS.join(', ')}`);
  return [kind];
}

function viewOf(value: unknown): 'whole' | 'summary' {
  if (value === undefined) return 'whole';
  if (value !== 'summary') throw refuse('parameter_invalid', 'view must be summary');
  return value;
}

/** The words of a parameter, in lower case; none where it is absent. Throws `parameter_invalid`. */
export function wordsOf(input: Pick<VerbInput, 'field'>, name: string): readonly string[] {
  const value = input.field(name);
  if (value === undefined) return [];
  if (typeof value !== 'string' || value.length > WORDS_MAX_CHARACTERS || value.includes('\0')) {
    throw refuse(
      'parameter_invalid',
      `${name} must be words of at most ${WORDS_MAX_CHARACTERS} characters in all`,
    );
  }
  return value
    .toLowerCase()
    .split(/\s+/u)
    .filter((word) => word !== '');
}
