import { EFFECT_PROFILE_VALUES, type EffectProfile } from './effect-profile.js';
import type { Fault } from './fault.js';
import { isObject } from './json/is-object.js';

/** One rule of an approval policy (chapter 6): the first that matches decides. */
export interface ApprovalRule {
  /** Served names with `*`, joined by `|`. */
  readonly tool: string;
  /** A dot path into the input. */
  readonly path?: string;
  /** A glob with `*` on the value at `path`. */
  readonly match?: string;
  /** A partial effect profile. */
  readonly effect?: Partial<EffectProfile>;
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly reason?: string;
}

const RULES_MAX = 200;
const TOOL_PATTERN = /^[A-Za-z0-9_*-]{1,128}(\|[A-Za-z0-9_*-]{1,128})*$/;
const DOT_PATH = /^[^.\s]+(\.[^.\s]+)*$/;
const TEXT_MAX = 1024;

/** What is wrong with a list of rules, in document order. */
export function approvalRuleFaults(value: unknown, path: string): Fault[] {
  if (!Array.isArray(value)) return [fault(path, 'must be a list of rules')];
  if (value.length > RULES_MAX) return [fault(path, `must have at most ${RULES_MAX} rules`)];
  return value.flatMap((rule, index) => ruleFaults(rule, `${path}[${index}]`));
}

function ruleFaults(value: unknown, path: string): Fault[] {
  if (!isObject(value)) return [fault(path, 'must be an object')];
  const { tool, path: inputPath, match, effect, verdict, reason } = value;
  const faults: Fault[] = [];
  if (!isText(tool) || !TOOL_PATTERN.test(tool))
    faults.push(fault(`${path}.tool`, 'must be names with *, joined by |'));
  if (inputPath !== undefined && !(isText(inputPath) && DOT_PATH.test(inputPath))) {
    faults.push(fault(`${path}.path`, 'must be a dot path'));
  }
  if (match !== undefined && !isText(match))
    faults.push(fault(`${path}.match`, 'must be a non-empty string'));
  if ((inputPath === undefined) !== (match === undefined))
    faults.push(fault(path, 'must carry path and match together'));
  if (effect !== undefined) faults.push(...effectFaults(effect, `${path}.effect`));
  if (verdict !== 'allow' && verdict !== 'ask' && verdict !== 'deny') {
    faults.push(fault(`${path}.verdict`, 'must be one of allow, ask, deny'));
  }
  if (reason !== undefined && !isText(reason))
    faults.push(fault(`${path}.reason`, 'must be a non-empty string'));
  return faults;
}

function effectFaults(effect: unknown, path: string): Fault[] {
  if (!isObject(effect)) return [fault(path, 'must be a partial effect profile')];
  return Object.entries(effect).flatMap(([key, value]) => {
    if (!Object.hasOwn(EFFECT_PROFILE_VALUES, key))
      return [fault(`${path}.${key}`, 'is no part of an effect profile')];
    const allowed: readonly unknown[] = EFFECT_PROFILE_VALUES[key as keyof EffectProfile];
    return allowed.includes(value) ? [] : [fault(`${path}.${key}`, `must be one of ${allowed.join(', ')}`)];
  });
}

const fault = (path: string, rest: string): Fault => ({ path, message: `${path} ${rest}` });

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= TEXT_MAX;
