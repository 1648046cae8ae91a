/** Resolves after `ms`. Throws the signal's reason as soon as it aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stopped = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    if (signal?.aborted) return reject(signal.reason as Error);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stopped);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stopped, { once: true });
  });
}

/** Resolves true when `work` has ended within `ms`, false when it has not. Never throws. */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const late = new AbortController();
  const ended = work.then(
    () => true,
    () => true,
  );
  const timeUp = pause(ms, late.signal).then(
    () => false,
    () => false,
  );
  const first = await Promise.race([ended, timeUp]);
  late.abort();
  return first;
}
