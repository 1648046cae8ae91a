import { type EffectProfile, effectProfileFaults } from '../kernel/effect-profile.js';
import { isServedName, SERVED_NAME } from '../kernel/names.js';
import { sourceOf } from '../kernel/json/strict-parse.js';
import { reservedNamespace } from '../kernel/reserved-names.js';
import type { AnnouncementFaults } from './announcement-faults.js';
import { inputSchemaFaults } from './json-schema-check.js';

/** One entry of `tools`, as admitted. */
export interface AnnouncedTool {
  readonly name: string;
  readonly effect_profile: EffectProfile;
  readonly timeout_ms?: number;
  readonly description?: string;
  /** As it was sent. */
  readonly input_schema_text?: string;
  /** Has both description and schema; anything less is an operator capability. */
  readonly model_visible: boolean;
  /** The executor's first module where it is absent. */
  readonly module?: string;
  /** The whole entry as it was sent, unknown keys included. */
  readonly entry_text: string;
}

/** The longest timeout that may be announced, in milliseconds. */
const TIMEOUT_LIMIT_MS = 3_600_000;

type Entry = Readonly<Record<string, unknown>>;

/** Notes what is wrong with the entries of `tools` (chapter 2), a list of `parseStrict`. */
export function checkServedTools(
  entries: readonly unknown[],
  modules: readonly string[],
  faults: AnnouncementFaults,
): void {
  const names = new Set<string>();
  for (let index = 0; index < entries.length && !faults.isFull; index += 1) {
    checkServedTool(entries[index], `tools[${index}]`, modules, names, faults);
  }
}

/** Notes what is wrong with one entry, which stands at `path`; `names` are those of the entries before it. */
export function checkServedTool(
  entry: unknown,
  path: string,
  modules: readonly string[],
  names: Set<string>,
  faults: AnnouncementFaults,
): void {
  new EntryCheck(path, modules, names, faults).check(entry);
}

/** One entry that `checkServedTools` found nothing wrong with. */
export function announcedTool(entry: Entry): AnnouncedTool {
  const { name, effect_profile, timeout_ms, description, input_schema, module } = entry;
  const input_schema_text = input_schema === undefined ? undefined : sourceOf(input_schema as object);
  return {
    name: name as string,
    effect_profile: effect_profile as EffectProfile,
    ...(timeout_ms === undefined ? {} : { timeout_ms: timeout_ms as number }),
    ...(description === undefined ? {} : { description: description as string }),
    ...(input_schema_text === undefined ? {} : { input_schema_text }),
    model_visible: description !== undefined && input_schema !== undefined,
    ...(module === undefined ? {} : { module: module as string }),
    entry_text: sourceOf(entry) as string,
  };
}

/** Reads one entry in document order: its members as they stand, then, at its closing brace, what is absent. */
class EntryCheck {
  constructor(
    private readonly path: string,
    private readonly modules: readonly string[],
    private readonly names: Set<string>,
    private readonly faults: AnnouncementFaults,
  ) {}

  check(entry: unknown): void {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
      this.faults.add(this.path, 'must be an object');
      return;
    }
    for (const [key, value] of Object.entries(entry)) {
      if (!this.faults.addUnstorable(this.path, key, value)) this.checkMember(key, value);
    }
    if (!Object.hasOwn(entry, 'name')) this.checkMember('name', undefined);
    if (!Object.hasOwn(entry, 'effect_profile')) this.checkMember('effect_profile', undefined);
  }

  private checkMember(key: string, value: unknown): void {
    const { faults, modules } = this;
    const path = `${this.path}.${key}`;
    switch (key) {
      case 'name':
        this.checkName(value, path);
        break;
      case 'effect_profile':
        faults.addAll(effectProfileFaults(value, path));
        break;
      case 'timeout_ms':
        if (!isTimeout(value)) faults.add(path, `must be an integer from 1 to ${TIMEOUT_LIMIT_MS}`);
        break;
      case 'description':
        if (!isNonBlank(value)) faults.add(path, 'must be a non-empty string');
        break;
      case 'input_schema':
        faults.addAll(inputSchemaFaults(value, path));
        break;
      case 'module':
        if (!modules.includes(value as string)) faults.add(path, `must be one of ${modules.join(', ')}`);
        break;
    }
  }

  private checkName(name: unknown, path: string): void {
    const namespace = typeof name === 'string' ? reservedNamespace(name) : undefined;
    if (namespace !== undefined) {
      this.faults.add(path, `names a reserved kernel namespace (${namespace})`, 'reserved_namespace');
    } else if (!isServedName(name)) {
      this.faults.add(path, `must match ${SERVED_NAME.source}`);
    } else if (this.names.has(name)) {
      this.faults.add(path, `repeats ${name}`);
    } else {
      this.names.add(name);
    }
  }
}

const isTimeout = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= TIMEOUT_LIMIT_MS;

/** Chapter 2: a description is a string that says something. */
export const isNonBlank = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';
