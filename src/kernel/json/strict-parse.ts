/**
 * One strict, order-preserving reading of JSON text: what it accepts every reader sees alike. A key that stands twice in an
 * object is refused, because two readers would see two values; `__proto__` and its kin are plain data.
 */

export type JsonFaultKind = 'syntax' | 'duplicate_key' | 'depth';

/** Why text is not read, and where. `path` is as in `tools[0].input_schema`; the root's is empty. */
export class JsonFault extends Error {
  constructor(
    readonly kind: JsonFaultKind,
    readonly path: string,
    message: string,
  ) {
    super(message);
    this.name = 'JsonFault';
  }
}

const sources = new WeakMap<object, string>();

/** The text that an object or array of `parseStrict` was read from, exactly; undefined for any other object. */
export const sourceOf = (value: object): string | undefined => sources.get(value);

/** Reads JSON text that nests at most `maxDepth` (default 64). Throws `JsonFault`. */
export function parseStrict(text: string, maxDepth = 64): unknown {
  const reader = new Reader(text, maxDepth);
  return reader.document();
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERALS: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

class Reader {
  private at = 0;
  private readonly path: (string | number)[] = [];

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
  ) {}

  document(): unknown {
    const value = this.value();
    this.skipBlank();
    if (this.at < this.text.length) throw this.syntax();
    return value;
  }

  private value(): unknown {
    this.skipBlank();
    switch (this.text[this.at]) {
      case '{':
        return this.nested(() => this.object());
      case '[':
        return this.nested(() => this.array());
      case '"':
        return this.string();
      default:
        return this.literal();
    }
  }

  /** The path holds one step for each level: its length is the depth. */
  private nested<T extends object>(read: () => T): T {
    if (this.path.length >= this.maxDepth) {
      throw new JsonFault('depth', this.where(), `the body nests deeper than ${this.maxDepth}`);
    }
    const start = this.at;
    this.at += 1;
    const value = read();
    sources.set(value, this.text.slice(start, this.at));
    return value;
  }

  private object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.skipBlank();
    if (this.take('}')) return object;
    do {
      this.skipBlank();
      if (this.text[this.at] !== '"') throw this.syntax();
      const key = this.string();
      if (Object.hasOwn(object, key)) {
        this.path.push(key);
        throw new JsonFault('duplicate_key', this.where(), `${this.where()} is a duplicate key`);
      }
      this.skipBlank();
      if (!this.take(':')) throw this.syntax();
      this.path.push(key);
      const value = this.value();
      this.path.pop();
      if (key === '__proto__') {
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      } else {
        object[key] = value;
      }
      this.skipBlank();
    } while (this.take(','));
    if (!this.take('}')) throw this.syntax();
    return object;
  }

  private array(): unknown[] {
    const array: unknown[] = [];
    this.skipBlank();
    if (this.take(']')) return array;
    do {
      this.path.push(array.length);
      array.push(this.value());
      this.path.pop();
      this.skipBlank();
    } while (this.take(','));
    if (!this.take(']')) throw this.syntax();
    return array;
  }

  private string(): string {
    const start = this.at;
    for (let end = this.text.indexOf('"', start + 1); end >= 0; end = this.text.indexOf('"', end + 1)) {
      let backslashes = 0;
      while (this.text[end - 1 - backslashes] === '\\') backslashes += 1;
      if (backslashes % 2 === 1) continue;
      this.at = end + 1;
      try {
        return JSON.parse(this.text.slice(start, this.at)) as string;
      } catch {
        this.at = start;
        throw this.syntax();
      }
    }
    throw this.syntax();
  }

  private literal(): number | boolean | null {
    for (const [word, value] of LITERALS) {
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    }
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (!match) throw this.syntax();
    this.at += match[0].length;
    return Number(match[0]);
  }

  private take(mark: string): boolean {
    if (this.text[this.at] !== mark) return false;
    this.at += 1;
    return true;
  }

  private skipBlank(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at += 1;
    }
  }

  private syntax(): JsonFault {
    return new JsonFault('syntax', this.where(), `the body is not JSON at character ${this.at}`);
  }

  private where(): string {
    return this.path.reduce<string>((path, step) => {
      if (typeof step === 'number') return `${path}[${step}]`;
      return path === '' ? step : `${path}.${step}`;
    }, '');
  }
}
