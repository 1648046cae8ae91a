import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { laidOut, listed, members, within } from './json-text.js';

/** JSON with blanks between its tokens, as somebody else might have written it. */
const written = fc
  .tuple(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t', '\r\n ' as string))
  .map(([text, blank]) => JSON.stringify(JSON.parse(text), undefined, blank));

describe('JSON as it was written', () => {
  it('is laid out on lines of its own, with the order of keys, numbers and escapes untouched', () => {
    expect(laidOut('{"b":[1.0,12345678901234567890],"10":"\\u202e","2":{},"e":[ ]}')).toBe(
      [
        '{',
        '  "b": [',
        '    1.0,',
        '    12345678901234567890',
        '  ],',
        '  "10": "\\u202e",',
        '  "2": {},',
        '  "e": []',
        '}',
      ].join('\n'),
    );
  });

  it('shows a key that comes twice twice: its readers may differ in which one they take', () => {
    expect(laidOut('{"path":"a","path":"b"}')).toBe('{\n  "path": "a",\n  "path": "b"\n}');
  });

  it('reads as the same value, however it is laid out', () => {
    fc.assert(fc.property(written, (text) => expect(JSON.parse(laidOut(text))).toEqual(JSON.parse(text))));
  });

  it('finds the members of an object as JSON.parse does', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(undefined, 2),
        (value, blank) => {
          const text = JSON.stringify(value, undefined, blank);
          const found = [...members(text)].map(([key, one]) => [key, JSON.parse(one)] as const);
          const expected = Object.entries(JSON.parse(text) as Record<string, unknown>);
          expect(new Map(found)).toEqual(new Map(expected));
        },
      ),
    );
  });

  it('finds the elements of a list as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        expect(listed(text).map((one): unknown => JSON.parse(one))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('finds a value by its path, verbatim, or that there is none', () => {
    const text = '{"run": {"effects": { "n": 1.50 , "none": null}}}';
    expect(within(text, 'run', 'effects', 'n')).toBe('1.50');
    expect(within(text, 'run', 'effects', 'none')).toBe('null');
    expect(within(text, 'run', 'effects', 'absent')).toBeUndefined();
    expect(within(text, 'run', 'absent', 'n')).toBeUndefined();
  });

  it.each(['"\\\\"', '"\\\\\\""', '["]",{"}":"[\\""}]', '{"a":"{"}'])(
    'is not misled by signs in strings: %s',
    (text) => {
      expect(members(`{"x":${text},"y":1}`)).toEqual(
        new Map([
          ['x', text],
          ['y', '1'],
        ]),
      );
    },
  );

  it('lays out a megabyte in a moment, whatever it is made of', () => {
    const half = '\\\\'.repeat(250_000);
    const started = performance.now();
    laidOut(
      `{"a":"${half}","b":[${'0,'.repeat(150_000)}1],"c":"${'"'.replace('"', '\\"').repeat(100_000)}"}`,
    );
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
