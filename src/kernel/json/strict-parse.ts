import { elementPath, memberPath } from './path.js';
import { NESTING_LIMIT, skipBlank, stringEnd } from './scan.js';

/** Why text is not read, and where. `path` is as in `tools[0].input_schema`; the root's is empty. */
export class JsonFault extends Error {
  constructor(
    readonly kind: 'syntax' | 'duplicate_key' | 'depth',
    readonly path: string,
    message: string,
  ) {
    super(message);
    this.name = 'JsonFault';
  }
}

/**
 * Reads JSON text as every reader would: the value of JSON.parse, keys in the order of the text, `__proto__` and its kin
 * plain data. One pass, without recursion, linear in the text.
 *
 * Throws `JsonFault`: `syntax`; `depth` where it nests deeper than 64; `duplicate_key` where a key stands twice in an
 * object, since one reader would see the first and another the last (chapter 2).
 */
export function parseStrict(text: string): unknown {
  return new StrictParse(text).read();
}

/** The very text that an object or array of `parseStrict` was read from; undefined for any other. */
export const sourceOf = (value: object): string | undefined => Sourced.textOf(value);

class Given {
  constructor(value: object) {
    return value;
  }
}

/**
 * Gives an object that exists a private field with its text, which no key, copy or comparison shows. Measured on 340,000
 * objects in a mebibyte: 0.1 s; with a WeakMap up to 5 s, on the event loop.
 */
class Sourced extends Given {
  readonly #text: string;

  constructor(value: object, text: string) {
    super(value);
    this.#text = text;
  }

  static textOf(value: object): string | undefined {
    return #text in value ? value.#text : undefined;
  }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

type JsonObject = Record<string, unknown>;

/** An object or array that is not closed yet. */
interface Open {
  readonly container: JsonObject | unknown[];
  readonly start: number;
  /** In an object, the key whose value is read. */
  key: string;
}

class StrictParse {
  private at = 0;
  private readonly open: Open[] = [];

  constructor(private readonly text: string) {}

  read(): unknown {
    for (;;) {
      const begun = this.begin();
      if (begun === NOTHING) continue;
      const root = this.deliver(begun);
      if (root === NOTHING) continue;
      if (skipBlank(this.text, this.at) < this.text.length) throw this.syntax();
      return root;
    }
  }

  /** Reads a scalar or an empty container, or opens a container up to its first value: then there is nothing yet. */
  private begin(): unknown {
    this.at = skipBlank(this.text, this.at);
    switch (this.text[this.at]) {
      case '{':
        this.enter({});
        if (this.take('}')) return this.close();
        this.readKey();
        return NOTHING;
      case '[':
        this.enter([]);
        return this.take(']') ? this.close() : NOTHING;
      case '"':
        return this.readString();
      case 't':
        return this.readWord('true', true);
      case 'f':
        return this.readWord('false', false);
      case 'n':
        return this.readWord('null', null);
      default:
        return this.readNumber();
    }
  }

  /** Puts a value where it belongs, and closes what ends with it. Answers the root when that is whole. */
  private deliver(value: unknown): unknown {
    for (let whole = value; ; whole = this.close()) {
      const innermost = this.open.at(-1);
      if (!innermost) return whole;
      const { container, key } = innermost;
      if (Array.isArray(container)) {
        container.push(whole);
        if (this.take(',')) return NOTHING;
        if (!this.take(']')) throw this.syntax();
      } else {
        setOwn(container, key, whole);
        if (this.take(',')) {
          this.readKey();
          return NOTHING;
        }
        if (!this.take('}')) throw this.syntax();
      }
    }
  }

  private enter(container: JsonObject | unknown[]): void {
    if (this.open.length === NESTING_LIMIT) {
      throw new JsonFault('depth', this.path(), `the body nests deeper than ${NESTING_LIMIT}`);
    }
    this.open.push({ container, start: this.at, key: '' });
    this.at += 1;
  }

  private close(): unknown {
    const { container, start } = this.open.pop() as Open;
    new Sourced(container, this.text.slice(start, this.at));
    return container;
  }

  private readKey(): void {
    const innermost = this.open.at(-1) as Open;
    this.at = skipBlank(this.text, this.at);
    if (this.text[this.at] !== '"') throw this.syntax();
    innermost.key = this.readString();
    if (Object.hasOwn(innermost.container, innermost.key)) {
      throw new JsonFault('duplicate_key', this.path(), `${this.path()} is a duplicate key`);
    }
    if (!this.take(':')) throw this.syntax();
  }

  private readString(): string {
    const end = stringEnd(this.text, this.at);
    try {
      // refuses raw control characters, wrong escapes and a string that does not close
      const value = JSON.parse(this.text.slice(this.at, end)) as string;
      this.at = end;
      return value;
    } catch {
      throw this.syntax();
    }
  }

  private readWord<Value>(word: string, value: Value): Value {
    if (!this.text.startsWith(word, this.at)) throw this.syntax();
    this.at += word.length;
    return value;
  }

  private readNumber(): number {
    NUMBER.lastIndex = this.at;
    const digits = NUMBER.exec(this.text)?.[0];
    if (digits === undefined) throw this.syntax();
    this.at += digits.length;
    return Number(digits);
  }

  /** Whether `mark` comes next, white space apart; then it is read. */
  private take(mark: string): boolean {
    this.at = skipBlank(this.text, this.at);
    if (this.text[this.at] !== mark) return false;
    this.at += 1;
    return true;
  }

  private syntax(): JsonFault {
    return new JsonFault('syntax', this.path(), `the body is not JSON at character ${this.at}`);
  }

  private path(): string {
    return this.open.reduce(
      (path, { container, key }) =>
        Array.isArray(container) ? elementPath(path, container.length) : memberPath(path, key),
      '',
    );
  }
}

/** No value yet; nothing in JSON is this. */
const NOTHING = Symbol('nothing');

function setOwn(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}
