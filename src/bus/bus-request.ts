import type { Msg } from 'nats';
import { JsonBody } from '../doors/body.js';
import type { Caller } from '../doors/caller.js';
import type { BusInput } from '../doors/input.js';
import type { Proof } from '../doors/plane.guard.js';
import type { AccountId } from '../db/account-id.js';
import { newId } from '../db/ids.js';
import type { Speaker } from './subjects.js';

/** One request on the bus: what guards prove the caller by, and what the handler reads. */
export class BusRequest implements BusInput, Proof {
  readonly id = newId();
  caller?: Caller;
  body = JsonBody.empty;

  constructor(
    private readonly message: Msg,
    readonly claimed: Speaker,
    readonly provenIn: AccountId | undefined,
  ) {}

  get authorization(): string | undefined {
    return this.header('Authorization');
  }

  /** The bus tells no address: failures are counted for whom the subject names. */
  get source(): string {
    return `bus:${this.claimed.id}`;
  }

  header(name: string): string | undefined {
    const value = this.message.headers?.get(name);
    return value === undefined || value === '' ? undefined : value;
  }

  /** Reads the payload. Throws `invalid_json` or `content_too_large`. */
  read(): void {
    this.body = JsonBody.read(this.message.data);
  }
}
