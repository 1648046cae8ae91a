/** What the ratios read of a row. */
export interface Row {
  readonly name: string;
  readonly in_flight: number;
  readonly calls_per_s: number;
  readonly p50_ms: number;
  readonly nexus_cpu_us?: number | null;
}

export function ratiosOf(rows: readonly Row[], growth?: number | null): Record<string, number | null>;
export function judged(
  ratios: Record<string, number | null>,
  rows: readonly Row[],
): { ratio: string; value: number | null; goal: string; met: string }[];
