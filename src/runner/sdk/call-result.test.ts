import { describe, expect, it } from '@jest/globals';
import { refusedResult, returned, thrown } from './call-result.js';
import { CallEndedError, ToolError } from './tool.js';

const working = new AbortController().signal;
const canceled = AbortSignal.abort(new CallEndedError('canceled', 'The call was canceled.'));

describe('What is committed', () => {
  it.each([
    ['a string as content', 'done', { content: 'done' }],
    ['nothing as no content', undefined, {}],
    ['a committed null as null', { structured_content: null }, { structured_content: null }],
    ['an absent part as absent', { content: 'a', title: undefined }, { content: 'a' }],
    ['only the parts a commit has', { content: 'a', outcome: 'failed', other: 1 } as never, { content: 'a' }],
  ])('takes %s', (_, result, body) => {
    expect(returned(result)).toEqual(body);
  });

  it('refuses a result that is neither a string nor an object', () => {
    expect(() => returned(7 as never)).toThrow('neither a string nor an object');
    expect(() => returned(null as never)).toThrow('neither a string nor an object');
  });

  it.each([
    [
      'is an error of the tool when it threw a ToolError',
      new ToolError('no such file'),
      working,
      { content: 'no such file', is_error: true },
    ],
    [
      'keeps the structured part of a ToolError',
      new ToolError('exit 1', { exit_code: 1 }),
      working,
      { content: 'exit 1', is_error: true, structured_content: { exit_code: 1 } },
    ],
    [
      'is failed when anything else was thrown',
      new Error('disk on fire'),
      working,
      { outcome: 'failed', content: 'disk on fire' },
    ],
    ['is failed when no error was thrown', 'odd', working, { outcome: 'failed', content: 'odd' }],
    [
      'says who stopped the call',
      canceled.reason,
      canceled,
      { outcome: 'failed', content: 'The call was canceled.' },
    ],
    [
      'keeps the last words of a stopped call',
      new ToolError('halfway'),
      canceled,
      { outcome: 'failed', content: 'The call was canceled.\nhalfway' },
    ],
  ])('%s', (_, fault, signal, body) => {
    expect(thrown(fault, signal)).toEqual(body);
  });

  it('says that the tool ran when its result is refused', () => {
    expect(refusedResult('a result is at most 768 KiB')).toEqual({
      is_error: true,
      content: 'The tool ran, but its result could not be delivered: a result is at most 768 KiB',
    });
  });
});
