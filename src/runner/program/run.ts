import { realpath } from 'node:fs/promises';
import type { Log } from '../sdk/log.js';
import { RefusedError } from '../sdk/refused-error.js';
import { readRegistration, type Registration } from '../sdk/registration.js';
import { connectRunner, type Runner } from '../sdk/runner.js';
import { Checkpoints } from './checkpoints/checkpoints.js';
import { describeEnvironment } from './environment.js';
import type { ProgramOptions } from './options.js';
import { RootFolder } from './root-folder.js';
import { exposure } from './secret-files.js';
import {
  register,
  savedRegistration,
  savedRegistrationFile,
  type SelfRegistration,
} from './self-registration.js';
import { servedTools } from './served-tools.js';

/** How a person ends the program: the first time gracefully, the second time at once. */
export interface StopSignals {
  readonly stop: AbortSignal;
  readonly stopAtOnce: AbortSignal;
}

/**
 * Runs the reference runner until it is told to stop. Throws where it cannot start, or cannot go on: a registration
 * that is missing, not good, or lies where callers could read it.
 */
export async function runProgram(
  options: ProgramOptions,
  log: Log,
  { stop, stopAtOnce }: StopSignals,
): Promise<void> {
  const root = await RootFolder.at(options.root);
  if (root.confinement === 'after_opening') {
    log(
      'warn',
      'this system cannot open each step of a path by itself: a link swapped in at the very moment of opening is found out only afterwards',
    );
  }
  if (options.allowBash)
    log(
      'warn',
      'bash is served: any command, not confined to the root folder, with all rights of this account',
    );
  const checkpoints = await Checkpoints.open(root, options.checkpoints, log);
  const environment = describeEnvironment(root);
  const runner = await connected(options, root, log, stop);
  stopAtOnce.addEventListener('abort', () => void runner.closeAtOnce(), { once: true });
  try {
    await serve(
      runner,
      { tools: servedTools(root, options, checkpoints), environment: await environment },
      stop,
    );
    log('info', `serving ${root.path}`);
    const fault = await Promise.race([runner.ended, aborted(stop)]);
    if (fault) throw explained(fault);
  } finally {
    log('info', 'stopping');
    await runner.close({ graceMs: options.graceMs });
    await checkpoints?.close();
    log('info', 'stopped');
  }
}

/** Announces, unless the runner ends or is told to stop before that. */
async function serve(
  runner: Runner,
  announcement: Parameters<Runner['announce']>[0],
  stop: AbortSignal,
): Promise<void> {
  const announced = runner.announce(announcement, { onInvalid: 'drop' });
  announced.catch(() => undefined);
  await Promise.race([announced, runner.ended, aborted(stop)]);
}

async function connected(
  options: ProgramOptions,
  root: RootFolder,
  log: Log,
  signal: AbortSignal,
): Promise<Runner> {
  const connect = (registration: Registration): Promise<Runner> =>
    connectRunner({
      registration,
      ...(options.natsUrls && { servers: options.natsUrls }),
      ...(options.delivery && { delivery: options.delivery }),
      maxConcurrent: options.maxConcurrent,
      log,
      signal,
    });
  if (typeof options.registration === 'string') {
    await keepsToItself(options.registration, root, log);
    return connect(await readRegistration(options.registration)).catch((fault: unknown) => {
      throw explained(fault);
    });
  }
  return connectedByItself(options.registration, root, log, signal, connect);
}

/** Uses the registration of an earlier start; registers where there is none, or where it is no longer good. */
async function connectedByItself(
  request: SelfRegistration,
  root: RootFolder,
  log: Log,
  signal: AbortSignal,
  connect: (registration: Registration) => Promise<Runner>,
): Promise<Runner> {
  await keepsToItself(request.memberSecretFile, root, log);
  const saved = await savedRegistration(request);
  if (saved) {
    await keepsToItself(savedRegistrationFile(request), root, log);
    try {
      return await connect(saved);
    } catch (fault) {
      if (!isUnauthorized(fault)) throw fault;
      log('warn', 'the saved registration is no longer good; registering again');
    }
  }
  const registration = await register(request, log, signal);
  await keepsToItself(savedRegistrationFile(request), root, log);
  return connect(registration);
}

/** Throws for a secret below the root folder: every caller of `read` could read it. */
async function keepsToItself(file: string, root: RootFolder, log: Log): Promise<void> {
  const exposed = await exposure(file, root.path);
  if (exposed === 'inside_root') {
    throw new Error(
      `${await realpath(file)} lies in the root folder, where every caller could read it: move it, or serve another folder`,
    );
  }
  if (exposed === 'readable_by_others')
    log('warn', `${file} is readable to others; make it yours alone: chmod 600`);
}

const isUnauthorized = (fault: unknown): boolean => fault instanceof RefusedError && fault.status === 401;

function explained(fault: unknown): unknown {
  if (!isUnauthorized(fault)) return fault;
  return new Error(
    'Nexus refuses the secret of this registration: it was registered anew elsewhere, or revoked',
    { cause: fault },
  );
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
