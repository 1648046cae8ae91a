/** A service that runs beside us. */
export interface Service {
  readonly pid: number;
  readonly port: number;
  readonly url: string;
  stop(graceMs?: number): Promise<void>;
  kill(): void;
}
