import { announce, type LeftOut, type OnInvalid } from './announce.js';
import { jittered } from './backoff.js';
import { BusLink } from './bus-link.js';
import type { DeliveredCall } from './delivered-call.js';
import { ExecutorVerbs } from './executor-verbs.js';
import { type Log, silent } from './log.js';
import { endsWithin, pause } from './pause.js';
import { ClosedError, type RefusedError } from './refused-error.js';
import { ModuleServices } from './module-services.js';
import type { Registration } from './registration.js';
import { BEAT_EVERY_MS, Seat } from './seat.js';
import type { Announcement, ServedTool } from './tool.js';
import { type ServedEndpoint, ToolSubscriptions } from './tool-subscriptions.js';
import type { AnnouncementBody, Delivery } from './wire.js';
import { WorkLoop } from './work-loop.js';

export interface RunnerOptions {
  readonly registration: Registration;
  /** Instead of the servers that the registration names. */
  readonly servers?: readonly string[];
  /** How many calls are worked on at once; default 16. */
  readonly maxConcurrent?: number;
  /**
   * How calls reach this runner: Nexus sends them to its tools' own subjects (`serve`, the default where Nexus manages the
   * bus), or it claims them, which a pool's member always does.
   */
  readonly delivery?: Delivery;
  /** Default: says nothing. */
  readonly log?: Log;
  /** Gives up connecting and waiting; has no effect afterwards. */
  readonly signal?: AbortSignal;
  /** How often this process says that it is here, in ms; default 5 s. */
  readonly beatEveryMs?: number;
  /** How often the inbox is read without being asked, give or take a fifth, in ms; default 30 s. */
  readonly readEveryMs?: number;
}

/** How long a call that was told to stop may take for its last word, and a commit to be acknowledged, in ms. */
const LAST_WORD_MS = 2_000;
const LAST_COMMIT_MS = 5_000;
const DEFAULT_GRACE_MS = 10_000;
const DEFAULT_CONCURRENT = 16;
/** What an announcement's `max_in_flight` may be (chapter 2). */
const MOST_IN_FLIGHT = 1_024;

/**
 * Connects as the executor of a registration. Resolves when Nexus has heard this process; waits while NATS cannot be
 * reached, and while another process speaks for the executor, saying so in the log. Throws `RefusedError` where the
 * registration's secret is not good, or the signal's reason.
 */
export async function connectRunner(options: RunnerOptions): Promise<Runner> {
  const {
    registration,
    servers = registration.bus.servers,
    log = silent,
    signal = new AbortController().signal,
  } = options;
  const link = await BusLink.open(registration, servers, log, signal);
  const verbs = new ExecutorVerbs(link, log);
  const seat = new Seat(link, verbs, log, options.beatEveryMs ?? BEAT_EVERY_MS);
  try {
    await seat.take(signal);
  } catch (fault) {
    await link.close();
    throw fault;
  }
  return new Runner(link, verbs, seat, options);
}

/** Pools are always `claim`, and so is everybody on a bus that Nexus does not manage (chapter 8). */
function deliveryOf({ registration: { bus, executor }, delivery }: RunnerOptions): Delivery {
  if (delivery !== undefined) return delivery;
  return bus.credentials === null || executor.kind === 'tool_provider' ? 'claim' : 'serve';
}

/**
 * An executor that serves tools. It claims nothing until it has announced; from then on it works until `close`, across
 * lost connections and restarts of Nexus. Invariant: no claimed call is dropped in silence.
 */
export class Runner {
  /** Resolves when the runner has ended: without a value after `close`, with the fault where it cannot go on. */
  readonly ended: Promise<Error | undefined>;
  private readonly log: Log;
  private readonly loop: WorkLoop;
  private readonly subscriptions: ToolSubscriptions;
  private readonly services: ModuleServices;
  /** How its calls reach it, as it is announced. */
  private readonly delivery: Pick<AnnouncementBody, 'delivery' | 'max_in_flight'>;
  private readonly living = new AbortController();
  private readonly insist = new AbortController();
  private tools: ReadonlyMap<string, ServedTool> = new Map();
  private announced: { announcement: Announcement; onInvalid: OnInvalid } | undefined;
  private announcing: Promise<unknown> = Promise.resolve();
  private closing: Promise<void> | undefined;
  private readonly hurry: Promise<void>;
  private hurryUp!: () => void;
  private endWith!: (fault: Error | undefined) => void;

  /** Use `connectRunner`. */
  constructor(
    private readonly link: BusLink,
    private readonly verbs: ExecutorVerbs,
    private readonly seat: Seat,
    private readonly options: RunnerOptions,
  ) {
    this.log = options.log ?? silent;
    this.ended = new Promise((resolve) => (this.endWith = resolve));
    this.hurry = new Promise((resolve) => (this.hurryUp = resolve));
    const { maxConcurrent = DEFAULT_CONCURRENT, registration } = options;
    // only Nexus can send calls on a bus that it manages
    const deliver = registration.bus.credentials === null ? undefined : this.deliver.bind(this);
    this.subscriptions = new ToolSubscriptions(link, deliver, this.log);
    this.services = new ModuleServices(link, registration);
    const served = {
      tool: (name: string) => this.tools.get(name),
      count: this.subscriptions.count.bind(this.subscriptions),
    };
    this.loop = new WorkLoop(this.verbs, served, maxConcurrent, this.log, this.insist.signal);
    const serves = deliveryOf(options) === 'serve';
    this.delivery = serves
      ? { delivery: 'serve', max_in_flight: Math.min(maxConcurrent, MOST_IN_FLIGHT) }
      : {};
    link.onPush((push) => this.loop.heard(push));
    link.onReconnect(() => this.read());
    void link.closed().then((fault) => fault && this.endWith(fault));
    void seat.keep(this.living.signal, {
      lost: () => this.unseated(),
      regained: () => this.announceAgain(),
      fenced: (refusal) => this.fenced(refusal),
    });
    void this.readPeriodically();
  }

  /**
   * Announces all that this runner serves, a whole replacement, and begins to claim. Repeated until Nexus answers. With
   * `onInvalid: "drop"` entries that are refused are left out, and answered here. Throws `RefusedError`, and
   * `ClosedError` when the runner closes meanwhile.
   */
  announce(
    announcement: Announcement,
    { onInvalid = 'throw' }: { onInvalid?: OnInvalid } = {},
  ): Promise<LeftOut[]> {
    const turn = this.announcing.then(() => this.replace(announcement, onInvalid));
    this.announcing = turn.catch(() => undefined);
    return turn;
  }

  /** The tools on subjects of their own, with what STATS says of each. */
  get endpoints(): readonly ServedEndpoint[] {
    return this.subscriptions.endpoints;
  }

  /** How many calls are under way. */
  get callsUnderWay(): number {
    return this.loop.callsUnderWay;
  }

  /**
   * Stops claiming and waits up to `graceMs` (default 10 s) for the calls under way. Those that have not ended by then
   * are told to stop and committed as failed, saying so; a result that Nexus does not acknowledge is logged by its name.
   */
  close({ graceMs = DEFAULT_GRACE_MS }: { graceMs?: number } = {}): Promise<void> {
    this.closing ??= this.shutDown(graceMs);
    return this.closing;
  }

  /** Ends the grace of a `close` under way, or to come: every call is told to stop at once. */
  closeAtOnce(): Promise<void> {
    this.hurryUp();
    return this.close();
  }

  private async replace(announcement: Announcement, onInvalid: OnInvalid): Promise<LeftOut[]> {
    const { tools, environment, documents } = announcement;
    const served = (entries: readonly ServedTool[]): [string, ServedTool][] =>
      entries.map((tool) => [tool.name, tool]);
    const before = this.tools;
    // A call of a new tool may arrive before the answer does.
    this.tools = new Map([...before, ...served(tools)]);
    if (this.mayServe) await this.subscriptions.add(tools.map(({ name }) => name));
    let leftOut: LeftOut[];
    try {
      // Handlers are functions, which JSON leaves out: the entries go out as they are.
      const taken = await announce({ tools, environment, documents, ...this.delivery }, onInvalid, (body) =>
        this.verbs.repeated('announce', () => this.verbs.announce(body), this.living.signal),
      );
      this.tools = new Map(served(taken.announced.tools as ServedTool[]));
      leftOut = taken.leftOut;
      for (const { list, name, faults } of leftOut)
        this.log('error', `left out of the announcement: ${faults.join('; ')}`, { list, name });
    } catch (fault) {
      this.tools = before;
      throw fault;
    } finally {
      await this.subscriptions.keep([...this.tools.keys()]);
    }
    this.announced = { announcement, onInvalid };
    this.log('info', 'announced', { tools: [...this.tools.keys()] });
    if (!this.mayServe) return leftOut;
    this.loop.open();
    this.read();
    await this.services.say(this.tools, this.subscriptions.endpoints);
    return leftOut;
  }

  private get mayServe(): boolean {
    return this.seat.isHeld && !this.living.signal.aborted;
  }

  private deliver(call: DeliveredCall): void {
    this.loop.deliver(call);
  }

  private announceAgain(): void {
    if (!this.announced) return;
    const { announcement, onInvalid } = this.announced;
    this.announce(announcement, { onInvalid }).catch((fault: Error) => {
      if (!this.living.signal.aborted) this.log('error', `the announcement was refused: ${fault.message}`);
    });
  }

  private read(): void {
    if (this.announced && this.seat.isHeld) void this.loop.read();
  }

  private async readPeriodically(): Promise<void> {
    const { signal } = this.living;
    while (!signal.aborted) {
      await pause(jittered(this.options.readEveryMs ?? 30_000), signal).catch(() => undefined);
      this.read();
    }
  }

  /** Another process speaks for the executor: its calls are that one's. */
  private unseated(): void {
    this.loop.shut();
    this.services.stop();
    void this.subscriptions.keep([]);
  }

  private fenced(refusal: RefusedError): void {
    this.log(
      'error',
      'the secret of this runner is no longer good: it was registered anew elsewhere, or revoked',
    );
    this.unseated();
    this.endWith(refusal);
  }

  private async shutDown(graceMs: number): Promise<void> {
    this.loop.shut();
    this.services.stop();
    this.living.abort(new ClosedError('the runner is closed'));
    await endsWithin(this.subscriptions.keep([]), LAST_WORD_MS);
    const { callsUnderWay } = this.loop;
    if (callsUnderWay > 0) this.log('info', `waiting up to ${graceMs} ms for ${callsUnderWay} calls to end`);
    const idle = this.loop.whenIdle();
    await endsWithin(Promise.race([idle, this.hurry]), graceMs);
    this.loop.stopCalls(
      'runner_stopping',
      'The runner was stopped before the call had ended; it may have taken effect in part.',
    );
    if (!(await endsWithin(idle, LAST_WORD_MS))) {
      this.loop.abandonCalls(
        'The runner was stopped, and the call did not stop in time; it may have taken effect.',
      );
      await endsWithin(idle, LAST_COMMIT_MS);
    }
    this.insist.abort(new ClosedError('the runner is closed'));
    this.link.giveUp('the runner is closed');
    await idle;
    await endsWithin(this.seat.leave(), LAST_WORD_MS);
    await this.link.close();
    this.endWith(undefined);
  }
}
