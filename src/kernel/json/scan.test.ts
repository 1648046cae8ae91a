import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { elementTexts, isUnstorable, memberTexts, nestingExceeds, unstorablePath } from './scan.js';

/** JSON text of any value, with white space wherever JSON admits some. */
const spaced = (value: unknown): string =>
  JSON.stringify(value, null, '\t')
    .replaceAll(/^(\t*)/gm, '$1 ')
    .replaceAll('\n', '\r\n');

/** Any string, lone surrogates and NUL included, that often looks like JSON itself. */
const anyString = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', ' ', 'u', '0', 'd', '8') }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\0', 'a', '\\') }),
);
const anyValue = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' });

describe('memberTexts', () => {
  it('gives the members of an object as they are written, in the order of the text', () => {
    const text = ' { "b" : 1.50 , "a":[ 1,{"x":"}]\\""} ],"10":"\\u0041", "1" :null,"":{ } } ';
    expect([...memberTexts(text)]).toEqual([
      ['b', '1.50'],
      ['a', '[ 1,{"x":"}]\\""} ]'],
      ['10', '"\\u0041"'],
      ['1', 'null'],
      ['', '{ }'],
    ]);
  });

  it('reads escaped keys, and takes the last of equal ones, as JSON.parse does', () => {
    expect([...memberTexts('{"a":1,"\\u0061":2,"\\"":3,"__proto__":4}')]).toEqual([
      ['a', '2'],
      ['"', '3'],
      ['__proto__', '4'],
    ]);
  });

  it.each(['[]', '["a",1]', '7', '"{"', 'null', '{}', ' { } '])('is empty for %s', (text) => {
    expect(memberTexts(text).size).toBe(0);
  });

  it('agrees with JSON.parse on every object', () => {
    fc.assert(
      fc.property(fc.dictionary(anyString, anyValue), fc.boolean(), (object, isSpaced) => {
        const text = isSpaced ? spaced(object) : JSON.stringify(object);
        const members = [...memberTexts(text)].map(([key, value]) => [key, JSON.parse(value) as unknown]);
        expect(Object.fromEntries(members)).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('elementTexts', () => {
  it('gives the elements of an array as they are written', () => {
    expect(elementTexts(' [ 1.0 ,"],[", [ ] , {"a":[1, 2]},true] ')).toEqual([
      '1.0',
      '"],["',
      '[ ]',
      '{"a":[1, 2]}',
      'true',
    ]);
  });

  it.each(['{}', '{"a":[1]}', '7', '"[1]"', '[]', ' [ ] '])('is empty for %s', (text) => {
    expect(elementTexts(text)).toEqual([]);
  });

  it('agrees with JSON.parse on every array', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyValue, anyString)), fc.boolean(), (array, isSpaced) => {
        const text = isSpaced ? spaced(array) : JSON.stringify(array);
        expect(elementTexts(text).map((element) => JSON.parse(element) as unknown)).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('nestingExceeds', () => {
  it.each<[string, boolean, string]>([
    ['64 arrays', false, '['.repeat(64) + ']'.repeat(64)],
    ['65 arrays', true, '['.repeat(65) + ']'.repeat(65)],
    ['65 objects', true, '{"a":'.repeat(65) + '1' + '}'.repeat(65)],
    ['many side by side', false, `[${'[],'.repeat(1_000)}[]]`],
    ['brackets in a string', false, JSON.stringify('['.repeat(100))],
    ['brackets behind an escaped quote', false, JSON.stringify('"' + '['.repeat(100))],
    ['brackets behind an escaped backslash', true, `["\\\\",${'['.repeat(64)}`],
    ['a text that breaks off', true, '['.repeat(10_000)],
    ['a string that never closes', false, '"[['],
    ['nothing', false, ''],
  ])('of %s is %s', (_, exceeds, text) => {
    expect(nestingExceeds(text)).toBe(exceeds);
  });

  it('agrees with the depth of every value', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map((member) => depthOf(member)))
        : 0;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, stringUnit: 'binary' }), fc.nat(8), (value, max) => {
        expect(nestingExceeds(JSON.stringify(value), max)).toBe(depthOf(value) > max);
      }),
    );
  });
});

describe('isUnstorable', () => {
  it.each<[boolean, string]>([
    [true, '"\\u0000"'],
    [true, '{"a\\u0000":1}'],
    [true, '"\0"'],
    [false, '"\\\\u0000"'],
    [true, '"\\\\\\u0000"'],
    [false, '"\\\\\\\\u0000"'],
    [false, '"\\u0001\\n"'],
    [true, '"\\ud800"'],
    [true, '"\\uD83D x"'],
    [true, '"\\ude00"'],
    [true, '"\\ude00\\ud83d"'],
    [true, '"\\ud83d\\\\ude00"'],
    [true, '"\\ud83d\\u0041"'],
    [false, '"\\ud83d\\ude00"'],
    [false, '"\\uD83D\\uDE00\\uD83D\\uDE00"'],
    [true, '"\\ud83d\\ud83d\\ude00"'],
    [true, '"\ud800"'],
    [false, '"😀"'],
    [true, '["a",{"b":["\\udfff"]}]'],
    [true, '{"a":"\\u0000","a":1}'],
    [false, '{"a":[1,true,null,"x"]}'],
  ])('is %s for %s', (unstorable, text) => {
    expect(isUnstorable(text)).toBe(unstorable);
  });

  it('agrees with what every string holds, however it is escaped', () => {
    const escapes = (text: string): string =>
      [...Array(text.length).keys()]
        .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`)
        .join('');
    fc.assert(
      fc.property(anyString, (text) => {
        const expected = text.includes('\0') || !text.isWellFormed();
        expect(isUnstorable(JSON.stringify(text))).toBe(expected);
        expect(isUnstorable(JSON.stringify({ [text]: [] }))).toBe(expected);
        expect(isUnstorable(`"${escapes(text)}"`)).toBe(expected);
        expect(unstorablePath(text) !== undefined).toBe(expected);
      }),
    );
  });
});

describe('unstorablePath', () => {
  it.each<[string | undefined, unknown]>([
    ['', 'a\0'],
    ['a.b[1]', { a: { b: ['x', '\ud800'] }, c: '\0' }],
    ['[0].a', [{ a: '\udc00' }]],
    ['a["\\u0000"]', { a: { '\0': 1 } }],
    ['["a b"].c', { 'a b': { c: '\0' } }],
    [undefined, { a: ['😀', 1, null, true, {}] }],
  ])('is %j for %j', (path, value) => {
    expect(unstorablePath(value)).toBe(path);
  });

  it('begins with the root it is given', () => {
    expect(unstorablePath(['\0'], 'tools')).toBe('tools[0]');
  });
});

describe('scanning', () => {
  it.each(['\\\\', '\\"', '\\u0041', '\\\\u0000', '[', '{', ' '])(
    'takes time in proportion to a mebibyte of %s',
    (part) => {
      const text = part.repeat((1024 * 1024) / part.length);
      const started = performance.now();
      nestingExceeds(`"${text}"`);
      nestingExceeds(text, Infinity);
      isUnstorable(`"${text}"`);
      memberTexts(`{"${text}":"${text}","b":[${text}`);
      elementTexts(`["${text}",{"${text}`);
      expect(performance.now() - started).toBeLessThan(2_000);
    },
  );
});
