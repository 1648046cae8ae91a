/**
 * How long to wait before try `attempt` + 1, in ms: doubles from `firstMs` up to `mostMs`, each with full jitter over
 * its upper half, so that runners cut off together do not come back together.
 */
export function backoffMs(
  attempt: number,
  { firstMs = 100, mostMs = 5_000, random = Math.random } = {},
): number {
  const ceiling = Math.min(mostMs, firstMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling / 2 + (random() * ceiling) / 2);
}

/** `ms` give or take a fifth. */
export const jittered = (ms: number, random = Math.random): number => Math.round(ms * (0.8 + 0.4 * random()));

/**
 * How long after the last try a lost connection may be tried again, in ms, when it has been down for `downForMs`: so
 * that the time between tries doubles, from 100 ms to 5 s, jittered like `backoffMs`. A function of the time and not
 * of the tries, since the client asks more than once a try.
 */
export function reconnectMs(downForMs: number, random = Math.random): number {
  const ceiling = Math.min(5_000, Math.max(100, downForMs / 2));
  return Math.round(ceiling / 2 + (random() * ceiling) / 2);
}
