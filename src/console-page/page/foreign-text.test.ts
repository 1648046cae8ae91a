import { describe, expect, it } from '@jest/globals';
import { shortened, visible } from './foreign-text.js';

describe('text that somebody else wrote', () => {
  it.each([
    ['a direction that is turned', 'invoice\u202Egnp.exe', 'invoice⟨U+202E⟩gnp.exe'],
    ['an isolate', 'a\u2066b\u2069', 'a⟨U+2066⟩b⟨U+2069⟩'],
    ['a zero width', 'pay\u200Bpal', 'pay⟨U+200B⟩pal'],
    ['letters that nobody sees', 'hi\u{E0041}', 'hi⟨U+E0041⟩'],
    ['a control of the terminal', '\u001b[2J', '⟨U+001B⟩[2J'],
    ['half a pair', '\ud83d', '⟨U+D83D⟩'],
    ['a line end that is none', 'a\u2028b', 'a⟨U+2028⟩b'],
  ])('shows %s', (_what, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it.each(['two\nlines\tand a tab', 'שלום', 'سلام', 'نامه\u200cها', '👩\u200d💻 naïve'])(
    'leaves alone what is only text: %s',
    (text) => {
      expect(visible(text)).toBe(text);
    },
  );

  it('takes line ends of another system for line ends', () => {
    expect(visible('a\r\nb\rc')).toBe('a\nb⟨U+000D⟩c');
  });

  it('is cut to a line of a given length, between characters', () => {
    expect(shortened('a\n\n  b', 10)).toBe('a b');
    expect(shortened('x'.repeat(100_000), 10)).toBe(`${'x'.repeat(10)}…`);
    expect(shortened('1234😀', 5)).toBe('1234…');
  });
});
