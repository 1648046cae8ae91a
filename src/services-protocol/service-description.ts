/** What one instance of a service says of itself, in the NATS services protocol (NATS ADR-32, chapter 8). */
export interface ServiceDescription {
  readonly name: string;
  readonly id: string;
  /** Plain semantic version. */
  readonly version: string;
  readonly description: string;
  /** Strings only: other readers refuse anything else. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly endpoints: readonly EndpointDescription[];
}

export interface EndpointDescription {
  readonly name: string;
  /** Exactly as served. */
  readonly subject: string;
  readonly queue_group: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The `type` of each answer. */
export const ANSWER_TYPES = {
  PING: 'io.nats.micro.v1.ping_response',
  INFO: 'io.nats.micro.v1.info_response',
  STATS: 'io.nats.micro.v1.stats_response',
} as const;

/** The queue group of the protocol, in which an endpoint is served. */
export const ENDPOINT_QUEUE = 'q';

/** Characters of an error that are kept. */
const ERROR_LIMIT = 200;

/** Counts of one endpoint. Times are whole nanoseconds, asynchronous work included. */
export class EndpointStats {
  private requests = 0;
  private errors = 0;
  private lastError = '';
  private nanoseconds = 0;

  /** Counts one request that took `nanoseconds`; `error` is what it was answered with, if it was. */
  count(nanoseconds: number, error?: string): void {
    this.requests += 1;
    this.nanoseconds += Math.round(nanoseconds);
    if (error === undefined) return;
    this.errors += 1;
    this.lastError = error.slice(0, ERROR_LIMIT);
  }

  /** `data` is empty: some readers require what the protocol leaves out. */
  toJSON(): object {
    return {
      num_requests: this.requests,
      num_errors: this.errors,
      last_error: this.lastError,
      processing_time: this.nanoseconds,
      average_processing_time: this.requests === 0 ? 0 : Math.round(this.nanoseconds / this.requests),
      data: {},
    };
  }
}
