import { readFile } from 'node:fs/promises';

/** The answer to a registration, saved whole (chapters 1 and 8): who this executor is and where it speaks. */
export interface Registration {
  readonly executor: {
    readonly public_id: string;
    readonly kind: 'runner' | 'agent_application' | 'tool_provider';
    readonly display_name?: string;
    readonly credential_epoch: number;
    /** What it serves on which machine: it announces a service for each module. */
    readonly modules: readonly string[];
    readonly machine: string;
    readonly assignment_scope: 'user_private' | 'account_wide';
  };
  /** The executor's token, `nxe_…`. Shown once: whoever holds it is this executor. */
  readonly secret: string;
  readonly bus: {
    readonly servers: readonly string[];
    /** A `.creds` text where Nexus manages NATS; `null` where every message carries the token. */
    readonly credentials: string | null;
    /** Prefixes; the verb or tool follows after a dot. */
    readonly subjects: {
      readonly executor: string;
      readonly work: string;
      readonly tool: string;
      readonly inbox_prefix: string;
    };
  };
}

/** Reads a saved registration. Throws with the file's name and what is missing, never with its content. */
export async function readRegistration(file: string): Promise<Registration> {
  const text = await readFile(file, 'utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON; save the answer of the registration whole`);
  }
  return asRegistration(value, file);
}

/** Checks the shape of a registration. Throws naming the first field that is missing. */
export function asRegistration(value: unknown, source: string): Registration {
  const texts = [
    'executor.public_id',
    'executor.kind',
    'executor.machine',
    'executor.assignment_scope',
    'secret',
    'bus.subjects.executor',
    'bus.subjects.work',
    'bus.subjects.tool',
    'bus.subjects.inbox_prefix',
  ];
  for (const path of texts) {
    const found = at(value, path);
    if (typeof found !== 'string' || found === '')
      throw new Error(`${source}: ${path} is missing from the registration`);
  }
  for (const path of ['executor.modules', 'bus.servers']) {
    const found = at(value, path);
    if (!Array.isArray(found) || found.length === 0 || found.some((text) => typeof text !== 'string'))
      throw new Error(`${source}: ${path} is missing from the registration`);
  }
  return value as Registration;
}

function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (held, key) => (typeof held === 'object' && held !== null ? held[key as never] : undefined),
      value,
    );
}
