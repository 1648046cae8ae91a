/**
 * Keeps the beginning and the end of an output that may be endless, and counts what lies between. Half of `mostBytes`
 * is for each.
 */
export class BoundedOutput {
  private readonly head: Buffer[] = [];
  private tail: Buffer[] = [];
  private headBytes = 0;
  private tailBytes = 0;
  private allBytes = 0;
  private readonly half: number;

  constructor(mostBytes: number) {
    this.half = Math.floor(mostBytes / 2);
  }

  get bytes(): number {
    return this.allBytes;
  }

  get truncated(): boolean {
    return this.allBytes > 2 * this.half;
  }

  add(chunk: Buffer): void {
    this.allBytes += chunk.length;
    const room = this.half - this.headBytes;
    if (room > 0) {
      this.head.push(chunk.subarray(0, room));
      this.headBytes += Math.min(room, chunk.length);
    }
    if (chunk.length <= room) return;
    this.tail.push(chunk.subarray(Math.max(0, room)));
    this.tailBytes += chunk.length - Math.max(0, room);
    // Joined now and then, not at every chunk: the tail never takes more than twice its bound.
    if (this.tailBytes > 2 * this.half) this.setTail(this.end(this.half));
  }

  /** The last bytes, as text. */
  lastText(mostBytes: number): string {
    return asWritten(
      this.tailBytes > 0
        ? this.end(Math.min(mostBytes, this.half))
        : Buffer.concat(this.head).subarray(-mostBytes),
    );
  }

  /** All of it as text, with a line where something was left out. */
  text(): string {
    if (!this.truncated) return asWritten(Buffer.concat([...this.head, ...this.tail]));
    const left = this.allBytes - 2 * this.half;
    return `${asWritten(Buffer.concat(this.head))}\n[… ${left} bytes left out …]\n${asWritten(this.end(this.half))}`;
  }

  private end(bytes: number): Buffer {
    const all = Buffer.concat(this.tail);
    return all.subarray(Math.max(0, all.length - bytes));
  }

  private setTail(bytes: Buffer): void {
    this.tail = [Buffer.from(bytes)];
    this.tailBytes = bytes.length;
  }
}

/** Output as text that Nexus stores: what is not UTF-8, and NUL, become U+FFFD. */
const asWritten = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\0', '\ufffd');
