export interface SseEvent {
  readonly event: string;
  readonly id: string | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads what it expects, and fails where it is not
  readonly data: any;
}

/** Reads a stream of server-sent events by `fetch`, as a browser's page does with a bearer header. */
export class SseReader {
  readonly events: SseEvent[] = [];
  private changed: () => void = () => undefined;
  private ended = false;

  private constructor(
    readonly response: Response,
    private readonly abort: AbortController,
  ) {}

  static async open(url: string, token: string, headers: Record<string, string> = {}): Promise<SseReader> {
    const abort = new AbortController();
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}`, ...headers },
      signal: abort.signal,
    });
    const reader = new SseReader(response, abort);
    void reader.read();
    return reader;
  }

  close(): void {
    this.abort.abort();
  }

  /** Resolves with the first event, past or to come, that `matches`. */
  async until(matches: (event: SseEvent) => boolean): Promise<SseEvent> {
    for (;;) {
      const found = this.events.find(matches);
      if (found) return found;
      if (this.ended) throw new Error(`the stream ended; it had ${JSON.stringify(this.events)}`);
      await this.change();
    }
  }

  /** Resolves when the server has ended the stream. */
  async end(): Promise<void> {
    while (!this.ended) await this.change();
  }

  private change(): Promise<void> {
    return new Promise((resolve) => (this.changed = resolve));
  }

  private async read(): Promise<void> {
    let rest = '';
    try {
      for await (const chunk of this.response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) this.take(block);
        this.changed();
      }
    } catch {
      // closed by this side, or cut by the server
    }
    this.ended = true;
    this.changed();
  }

  private take(block: string): void {
    const fields = block.split('\n').map((line) => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), line.slice(at + 2)] as const;
    });
    const valueOf = (name: string): string | undefined => fields.find(([field]) => field === name)?.[1];
    const event = valueOf('event');
    if (event === undefined) return;
    const data = fields.flatMap(([field, value]) => (field === 'data' ? [value] : [])).join('\n');
    this.events.push({ event, id: valueOf('id'), data: JSON.parse(data) as unknown });
  }
}
