/**
 * Whether `text` is what `pattern` says, whole; `*` stands for any characters, none included. Goes back to the last `*`
 * only, so that a hostile pattern costs at most the product of both lengths.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let retry = 0;
  while (at < text.length) {
    if (pattern[inPattern] === '*') {
      star = inPattern;
      inPattern += 1;
      retry = at;
    } else if (pattern[inPattern] === text[at]) {
      inPattern += 1;
      at += 1;
    } else if (star >= 0) {
      inPattern = star + 1;
      retry += 1;
      at = retry;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === '*') inPattern += 1;
  return inPattern === pattern.length;
}
