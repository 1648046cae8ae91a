import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** Milliseconds after which a reader that lost its stream comes back. */
const RETRY_MS = 1_000;
/** How long a reader may be behind before it is cut (chapter 9: slow clients are). */
const BEHIND_MS = 30_000;
/** How long a stream that was ended may take to reach its reader. */
const LEAVING_MS = 1_000;

/** One server-sent event stream. Writing to a stream that was closed does nothing. */
export class EventStream {
  private readonly closed = new AbortController();

  /** `response` must be ours alone: nobody else answers it any more. */
  constructor(private readonly response: ServerResponse) {
    response.on('close', () => this.closed.abort());
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
  }

  get isClosed(): boolean {
    return this.closed.signal.aborted;
  }

  /** Whether the reader is behind: what may be dropped is dropped then. */
  get isBehind(): boolean {
    return this.response.writableNeedDrain;
  }

  onClose(then: () => void): void {
    this.closed.signal.addEventListener('abort', then, { once: true });
  }

  /** Writes an event whose data is one line of JSON, and waits for a reader that is behind. */
  async send(event: string, json: string, id?: string): Promise<void> {
    // JSON may be sent with line ends between its tokens; in an event's data each line has its own field
    const data = json
      .split(/\r\n|\r|\n/)
      .map((line) => `data: ${line}\n`)
      .join('');
    await this.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}${data}\n`);
  }

  /** A comment: it only keeps the connection alive. */
  heartbeat(): void {
    if (!this.isClosed && !this.isBehind) this.response.write(': heartbeat\n\n');
  }

  /** Ends it from this side: nothing more is written, and a reader that does not take the rest is cut. */
  end(): void {
    if (this.isClosed) return;
    this.closed.abort();
    this.response.end();
    setTimeout(() => this.response.destroy(), LEAVING_MS).unref();
  }

  private async write(text: string): Promise<void> {
    if (this.isClosed || this.response.write(text)) return;
    const isTooLong = AbortSignal.timeout(BEHIND_MS);
    const signal = AbortSignal.any([this.closed.signal, isTooLong]);
    await once(this.response, 'drain', { signal }).catch(() => undefined);
    if (isTooLong.aborted) this.response.destroy();
  }
}
