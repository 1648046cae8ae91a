/**
 * A shorter sequence of which `fails` is still true: ever smaller parts are left out, as long as something can be, or until
 * `budgetMs` have gone by. What each item is about is found when it is played, so any part of a sequence makes sense.
 */
export async function shortened<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => Promise<boolean>,
  budgetMs: number,
): Promise<readonly Item[]> {
  const end = performance.now() + budgetMs;
  let shortest = items;
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size > 1 ? Math.ceil(size / 2) : 0) {
    // from the end: what went wrong happened last
    for (let from = shortest.length - size; from > -size; from -= size) {
      if (performance.now() > end) return shortest;
      const rest = [...shortest.slice(0, Math.max(0, from)), ...shortest.slice(from + size)];
      if (rest.length < shortest.length && (await fails(rest))) shortest = rest;
    }
  }
  return shortest;
}
