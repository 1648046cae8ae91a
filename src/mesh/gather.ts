import { createInbox, type Msg, type NatsConnection } from 'nats';
import { NODE_INBOX } from '../bus/grants/permissions.js';
import { type InfoAnswer, readInfo } from './info-answer.js';

/** No answer for this long ends a gather (chapter 8). */
const QUIET_MS = 250;
/** A gather lasts this long at most. */
const LIMIT_MS = 2_000;
/** What a gather reads at most: whoever floods it is cut off, and the assignments are asked one by one all the same. */
const ANSWERS_MAX = 20_000;
const BYTES_MAX = 256 * 1024 * 1024;

/** How long a directed ask waits. Where nobody listens the server says so at once. */
const DIRECTED_MS = 1_000;

export interface Gathered {
  readonly answers: InfoAnswer[];
  /** Answers that were none. */
  readonly malformed: number;
}

/** Asks everybody on the connection at once, by one `$SRV.INFO`, and gathers every answer. Throws what publishing throws. */
export async function gather(connection: NatsConnection): Promise<Gathered> {
  const answers: InfoAnswer[] = [];
  let malformed = 0;
  let bytes = 0;
  const quiet = new Quiet(QUIET_MS, LIMIT_MS);
  const inbox = createInbox(NODE_INBOX);
  const subscription = connection.subscribe(inbox, {
    callback: (fault: Error | null, message: Msg) => {
      if (fault) return quiet.end();
      quiet.heard();
      bytes += message.data.byteLength;
      const answer = readInfo(message);
      if (answer) answers.push(answer);
      else malformed += 1;
      if (answers.length + malformed >= ANSWERS_MAX || bytes >= BYTES_MAX) quiet.end();
    },
  });
  try {
    connection.publish('$SRV.INFO', undefined, { reply: inbox });
    await quiet.ended;
  } finally {
    subscription.unsubscribe();
  }
  return { answers, malformed };
}

/** Asks one instance on its own subject; undefined where nobody answers, or nothing that can be read. */
export async function askDirectly(
  connection: NatsConnection,
  name: string,
  id: string,
): Promise<InfoAnswer | undefined> {
  try {
    const answer = readInfo(
      await connection.request(`$SRV.INFO.${name}.${id}`, undefined, { timeout: DIRECTED_MS }),
    );
    return answer?.name === name && answer.id === id ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** Ends when nothing was heard for a while, or after a limit. */
class Quiet {
  readonly ended: Promise<void>;
  private resolve = (): void => undefined;
  private lastHeard = performance.now();
  private isEnded = false;
  private readonly limit: NodeJS.Timeout;
  private timer: NodeJS.Timeout;

  constructor(
    private readonly quietMs: number,
    limitMs: number,
  ) {
    this.ended = new Promise((resolve) => (this.resolve = resolve));
    this.limit = setTimeout(() => this.end(), limitMs);
    this.timer = setTimeout(() => this.look(), quietMs);
  }

  heard(): void {
    this.lastHeard = performance.now();
  }

  end(): void {
    this.isEnded = true;
    clearTimeout(this.limit);
    clearTimeout(this.timer);
    this.resolve();
  }

  /** A node that was busy may have answers waiting in its socket: those are read before it is believed that none came. */
  private look(): void {
    setImmediate(() => {
      if (this.isEnded) return;
      const left = this.quietMs - (performance.now() - this.lastHeard);
      if (left <= 0) return this.end();
      this.timer = setTimeout(() => this.look(), left);
    });
  }
}
