import { resolve } from 'node:path';

/**
 * Every setting of a Nexus node: one typed, alphabetic table. A value that does not parse stops the start
 * with the variable's name; nothing else in `src` reads `process.env`.
 */
const SETTINGS = {
  DATABASE_POOL_MAX: integer(16, 2, 200, 'Connections a node holds to PostgreSQL at most.'),
  DATABASE_URL: text(undefined, 'PostgreSQL to use, as a connection URL.'),
  LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'The least level that is logged.'),
  NATS_URL: text('nats://127.0.0.1:7422', 'NATS server to use; several separated by commas.'),
  NEXUS_BUS_AUTH: oneOf(
    ['managed', 'token'],
    'managed',
    'How the bus proves who speaks: by grants that Nexus issues, or by a `token` in every message (chapter 8).',
  ),
  NEXUS_BUS_KEYS: text(
    undefined,
    'Secret of a managed bus, which all its nodes share: 32 bytes in base64url; default the file bus.keys of NEXUS_HOME.',
  ),
  NEXUS_BUS_PREFIX: text('nexus.v1', 'First tokens of every subject of Nexus.'),
  NEXUS_HOME: text('.nexus', 'Folder of secrets and embedded data.'),
  NEXUS_HTTP_HOST: text('127.0.0.1', 'Address the REST door listens on.'),
  NEXUS_HTTP_PORT: integer(7420, 0, 65_535, 'Port of the REST door; 0 takes a free one.'),
  NEXUS_PRUNE_HOUR: integer(3, 0, 23, "Hour of the day, in UTC, from which the night's retention job runs."),
  NEXUS_PUBLIC_NATS_URL: text(undefined, 'NATS address told to runners; default NATS_URL.'),
  NEXUS_RATE_CLAIM_STATUS: integer(6_000, 1, 1e9, 'Claim status reads a minute and credential.'),
  NEXUS_RATE_GENERAL: integer(6_000, 1, 1e9, 'Other requests a minute and credential.'),
  NEXUS_RATE_PROGRESS: integer(10_000, 1, 1e9, 'Progress frames a minute and credential.'),
  NEXUS_RATE_WORK: integer(300_000, 1, 1e9, 'Calls and work a minute and credential.'),
} satisfies Record<string, Setting<unknown>>;

interface Setting<T> {
  readonly meaning: string;
  readonly fallback: string;
  parse(raw: string | undefined): T;
}

export type Env = { readonly [K in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[K]['parse']> };

/** Injection token of the parsed settings. */
export const ENV = Symbol('ENV');

/** Reads the table from `source`. Throws one error that names every wrong variable. */
export function readEnv(source: NodeJS.ProcessEnv = process.env): Env {
  const faults: string[] = [];
  const env: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(SETTINGS)) {
    try {
      env[name] = setting.parse(source[name] === '' ? undefined : source[name]);
    } catch (fault) {
      faults.push(`${name} ${(fault as Error).message}`);
    }
  }
  if (faults.length > 0) throw new Error(`Settings: ${faults.join('; ')}`);
  env['NEXUS_HOME'] = resolve(env['NEXUS_HOME'] as string);
  return env as Env;
}

/** The table as rows, for `nexus env` and the README's check. */
export function settingRows(): { name: string; fallback: string; meaning: string }[] {
  return Object.entries(SETTINGS).map(([name, { fallback, meaning }]) => ({ name, fallback, meaning }));
}

function text(fallback: string, meaning: string): Setting<string>;
function text(fallback: undefined, meaning: string): Setting<string | undefined>;
function text(fallback: string | undefined, meaning: string): Setting<string | undefined> {
  return { meaning, fallback: fallback ?? '', parse: (raw) => raw ?? fallback };
}

function integer(fallback: number, least: number, most: number, meaning: string): Setting<number> {
  return {
    meaning,
    fallback: String(fallback),
    parse(raw) {
      const value = raw === undefined ? fallback : Number(raw);
      if (!Number.isInteger(value) || value < least || value > most) {
        throw new Error(`must be an integer from ${least} to ${most}`);
      }
      return value;
    },
  };
}

function oneOf<const T extends string>(values: readonly T[], fallback: T, meaning: string): Setting<T> {
  return {
    meaning,
    fallback,
    parse(raw) {
      const value = (raw ?? fallback) as T;
      if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}`);
      return value;
    },
  };
}
