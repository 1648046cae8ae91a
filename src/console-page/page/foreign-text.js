import { element } from './elements.js';

/** What a reader would not see, or what would reorder what they see: controls, directions, zero widths, tags, half pairs. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** Line ends and tabs lay text out; joiners belong to scripts and emoji. */
const PLAIN = new Set(['\n', '\t', '\u200c', '\u200d']);

/** Text that somebody else wrote, with what it hides made visible: `⟨U+202E⟩`. */
export function visible(text) {
  return text
    .replaceAll('\r\n', '\n')
    .replace(HIDDEN, (hidden) =>
      PLAIN.has(hidden) ? hidden : `⟨U+${hidden.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
    );
}

/** At most `most` characters of it, on one line. */
export function shortened(text, most = 160) {
  const line = text.slice(0, most + 1).replaceAll(/\s+/g, ' ');
  // half of a pair would be shown as something hidden
  const cut = line.slice(0, most).replace(/[\ud800-\udbff]$/, '');
  return visible(text.length > most ? `${cut}…` : line);
}

/** A name or a line that somebody else wrote: its direction is its own, and ends where it ends. */
export const foreign = (text, most = 200) => element('bdi', {}, shortened(text, most));

/** An id or a name of the protocol. */
export const code = (text) => element('code', {}, visible(text));
