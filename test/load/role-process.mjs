import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('role.mjs', import.meta.url));
const STOPS_WITHIN_MS = 5_000;

/** The process that carries out one role of a peer. It ends with us. */
export class RoleProcess {
  constructor(child, title) {
    this.child = child;
    this.title = title;
    this.pid = child.pid;
  }

  /** Starts it, and waits until it is ready. `onStarted` is told of it as soon as its process is there. */
  static async start(peer, role, context, { onStarted, execArgv = [] }) {
    const child = fork(PROGRAM, [peer.file, peer.name, role], { execArgv });
    const started = new RoleProcess(child, `${peer.name}: ${role}`);
    onStarted(started);
    child.send(context);
    await started.hear();
    return started;
  }

  /** Makes calls by a plan of the closed loop; throws the fault of the first call that failed. */
  async run(plan) {
    this.child.send(plan);
    const { result, fault } = await this.hear();
    if (fault) throw new Error(`${this.title}: ${fault}`);
    return result;
  }

  async stop() {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const forced = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
    await ended;
    clearTimeout(forced);
  }

  /** Its next message; throws when it ends instead. */
  async hear() {
    const over = new AbortController();
    const { signal } = over;
    try {
      return await Promise.race([
        once(this.child, 'message', { signal }).then(([message]) => message),
        once(this.child, 'exit', { signal }).then(([code, by]) => {
          throw new Error(`${this.title} ended with ${by ?? code}`);
        }),
      ]);
    } finally {
      over.abort();
    }
  }
}
