import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { elementTexts, memberTexts } from './scan.js';
import { JsonFault, parseStrict, sourceOf } from './strict-parse.js';

function faultOf(text: string): JsonFault {
  try {
    parseStrict(text);
  } catch (fault) {
    if (fault instanceof JsonFault) return fault;
    throw fault;
  }
  throw new Error('It was read');
}

describe('parseStrict', () => {
  it('agrees with JSON.parse on the value of every JSON text', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6, stringUnit: 'binary' }), (text) => {
        expect(parseStrict(text)).toStrictEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with JSON.parse on whether a text is JSON', () => {
    const parts = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b',
      '"',
      '\\',
      '1',
      '-',
      '0',
      '.5',
      'e3',
      'true',
      'nul',
      ' ',
      '\n',
      '\t',
      '\u00a0',
      '\u0001',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 8 }), (tokens) => {
        const text = tokens.join('');
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(faultOf(text).kind).toMatch(/syntax|duplicate_key/);
          return;
        }
        try {
          expect(parseStrict(text)).toStrictEqual(expected);
        } catch (fault) {
          expect(fault).toMatchObject({ kind: 'duplicate_key' });
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    '',
    ' ',
    '{',
    '[',
    '"',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{,}',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a" 1}',
    '{a:1}',
    "{'a':1}",
    '01',
    '+1',
    '1.',
    '.5',
    '1e',
    '-',
    'NaN',
    'Infinity',
    'tru',
    'truex',
    'nulll',
    '1 2',
    '[]]',
    '{}{}',
    '[}',
    '{]',
    '"\u0000"',
    '"\n"',
    '"\\x"',
    '"\\u12"',
    '\u00a01',
    '\ufeff1',
    '/**/1',
    'undefined',
  ])('refuses %j as no JSON', (text) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(faultOf(text).kind).toBe('syntax');
  });

  it('says at which character a text stops being JSON, and in which value', () => {
    expect(faultOf('{"tools":[{"name":tru}]}')).toMatchObject({
      kind: 'syntax',
      path: 'tools[0].name',
      message: 'the body is not JSON at character 18',
    });
  });

  it.each([
    ['a', '{"a":1,"a":1}'],
    ['a', '{"a":1,"b":2,"\\u0061":3}'],
    ['tools[1].input_schema.properties.a', '{"tools":[{},{"input_schema":{"properties":{"a":1,"a":2}}}]}'],
    ['__proto__', '{"__proto__":1,"__proto__":2}'],
    ['[0][1]["a b"]', '[[0,{"a b":1,"a b":2}]]'],
    ['[""]', '{"":1,"":2}'],
  ])('refuses a key that stands twice, with its path: %s', (path, text) => {
    expect(faultOf(text)).toMatchObject({
      kind: 'duplicate_key',
      path,
      message: `${path} is a duplicate key`,
    });
  });

  it('admits the same key in different objects', () => {
    expect(parseStrict('[{"a":{"a":1}},{"a":2}]')).toEqual([{ a: { a: 1 } }, { a: 2 }]);
  });

  it('takes __proto__ and its kin for plain data', () => {
    const text =
      '{"__proto__":{"polluted":true},"constructor":1,"hasOwnProperty":2,"toString":{"__proto__":null}}';
    const value = parseStrict(text) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'hasOwnProperty', 'toString']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value['polluted']).toBeUndefined();
    expect(JSON.stringify(value)).toBe(text);
  });

  it('refuses nesting deeper than 64, and reads 64', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(parseStrict(nested(64))).toEqual(JSON.parse(nested(64)));
    expect(faultOf(nested(65))).toMatchObject({ kind: 'depth', path: '[0]'.repeat(64) });
    expect(faultOf('{"a":'.repeat(100_000)).kind).toBe('depth');
  });

  it('reads a mebibyte of the smallest objects in time', () => {
    const text = `[${'{},'.repeat(349_000)}{}]`;
    const started = performance.now();
    parseStrict(text);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('sourceOf', () => {
  it('is the very text of an object or array', () => {
    const text = ' {"a" : [ 1.0, {"b":"\\u00e9" } ] }\n';
    const value = parseStrict(text) as { a: [number, object] };
    expect(sourceOf(value)).toBe('{"a" : [ 1.0, {"b":"\\u00e9" } ] }');
    expect(sourceOf(value.a)).toBe('[ 1.0, {"b":"\\u00e9" } ]');
    expect(sourceOf(value.a[1])).toBe('{"b":"\\u00e9" }');
  });

  it('is nothing for an object of another origin', () => {
    expect(sourceOf({})).toBeUndefined();
  });

  it('agrees with the scan of the text, at every depth', () => {
    const check = (value: unknown, text: string): void => {
      if (typeof value !== 'object' || value === null) return;
      expect(sourceOf(value)).toBe(text);
      if (Array.isArray(value)) elementTexts(text).forEach((element, index) => check(value[index], element));
      else
        for (const [key, member] of memberTexts(text)) check((value as Record<string, unknown>)[key], member);
    };
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        check(parseStrict(text), text);
      }),
    );
  });
});
