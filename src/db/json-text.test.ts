import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonText, writeJson } from './json-text.js';

describe('writeJson', () => {
  it('writes as JSON.stringify does', () => {
    const value = fc.anything({
      withDate: true,
      withNullPrototype: false,
      values: [
        fc.string({ unit: 'binary' }),
        fc.double(),
        fc.integer(),
        fc.boolean(),
        fc.constantFrom(null, undefined, '\ud800', 'a\u0000"\\', -0),
      ],
    });
    fc.assert(fc.property(value, (any) => writeJson(any) === (JSON.stringify(any) ?? 'null')));
  });

  it('keeps the text of a JsonText to the byte, wherever it stands', () => {
    const kept = new JsonText('{ "b":1.0, "a":1e400 }');
    expect(writeJson({ list: [kept, { kept }] })).toBe(`{"list":[${kept.text},{"kept":${kept.text}}]}`);
  });
});
