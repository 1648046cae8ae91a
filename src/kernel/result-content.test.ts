import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '../errors/refusal.js';
import { memberTexts } from './json/scan.js';
import { checkResult, type ResultFault, resultFault } from './result-content.js';

const faultOf = (body: unknown): ResultFault | undefined => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return resultFault(JSON.parse(text) as Record<string, unknown>, memberTexts(text));
};
const text = { type: 'text', text: 'hello' };
const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
const link = { type: 'resource_link', uri: 'file:///a', name: 'a' };
const resource = { type: 'resource', resource: { uri: 'file:///a', text: 'x' } };
const kib = (count: number): string => 'x'.repeat(count * 1024);

describe('A result is admitted', () => {
  it.each<[string, unknown]>([
    ['that is empty', {}],
    ['with text', { content: 'done' }],
    ['with empty text', { content: '' }],
    ['without blocks', { content: [] }],
    ['with 64 blocks', { content: Array.from({ length: 64 }, () => text) }],
    ['with a block of each kind', { content: [text, link, image, { ...image, type: 'audio' }, resource] }],
    [
      'with a blob',
      { content: [{ type: 'resource', resource: { uri: 'a:b', blob: 'aGk=', mimeType: 'a/b' } }] },
    ],
    [
      'with annotations and other keys',
      { content: [{ ...text, annotations: { audience: ['user'] }, _meta: {} }] },
    ],
    ['with any structured content', { structured_content: [1, null, { a: 'b' }] }],
    ['with structured content of null', { structured_content: null }],
    ['that reports an error', { is_error: true, outcome: 'completed' }],
    ['that failed', { outcome: 'failed', content: 'no such file' }],
    ['with a title of 256 characters', { title: '😀'.repeat(256) }],
    ['with metadata', { metadata: { checkpoint: null, other: [1] } }],
    ['with 768 KiB in all', { content: kib(700), structured_content: kib(67) }],
    ['with escapes that can be stored', '{"content":"\\\\u0000 \\ud83d\\ude00"}'],
    ['whatever its claim token and unknown fields hold', { claim_token: 7, colour: '\0' }],
  ])('%s', (_, body) => {
    expect(faultOf(body)).toBeUndefined();
  });
});

describe('A result is refused', () => {
  it.each<[ResultFault['code'], string, unknown]>([
    ['validation_failed', 'outcome must be one of completed, failed', { outcome: 'done' }],
    ['validation_failed', 'outcome must be one of completed, failed', { outcome: null }],
    ['validation_failed', 'is_error must be a boolean', { is_error: 'true' }],
    ['invalid_content', 'content must be a string or a list of content blocks', { content: null }],
    ['invalid_content', 'content must be a string or a list of content blocks', { content: text }],
    ['invalid_content', 'content must be a string or a list of content blocks', { content: 7 }],
    ['invalid_content', 'content[1] must be an object', { content: [text, 'hello'] }],
    ['invalid_content', 'content[0] must be an object', { content: [null] }],
    ['invalid_content', 'content[0].type must be a string', { content: [{ text: 'hello' }] }],
    [
      'unsupported_content_kind',
      'content[0].type must be one of text, resource_link, image, audio, resource',
      { content: [{ type: 'video' }] },
    ],
    [
      'unsupported_content_kind',
      'content[0].type must be one of text, resource_link, image, audio, resource',
      { content: [{ type: 'constructor' }] },
    ],
    ['invalid_content', 'content[0].text must be a string', { content: [{ type: 'text' }] }],
    ['invalid_content', 'content[0].text must be a string', { content: [{ type: 'text', text: 7 }] }],
    ['invalid_content', 'content[0].uri must be a string', { content: [{ ...link, uri: undefined }] }],
    ['invalid_content', 'content[0].name must be a string', { content: [{ ...link, name: undefined }] }],
    ['invalid_content', 'content[0].data must be a string', { content: [{ ...image, data: undefined }] }],
    [
      'invalid_content',
      'content[0].mimeType must be a string',
      { content: [{ type: 'audio', data: 'aGk=' }] },
    ],
    [
      'invalid_content',
      'content[0].resource must be an object',
      { content: [{ type: 'resource', resource: 'a' }] },
    ],
    [
      'invalid_content',
      'content[0].resource.uri must be a string',
      { content: [{ type: 'resource', resource: { text: 'x' } }] },
    ],
    [
      'invalid_content',
      'content[0].resource.blob must be a string',
      { content: [{ type: 'resource', resource: { uri: 'a' } }] },
    ],
    [
      'invalid_content',
      'content[0].resource.text must be a string',
      { content: [{ type: 'resource', resource: { uri: 'a', text: 1, blob: 'b' } }] },
    ],
    [
      'too_many_content_blocks',
      'content has 65 blocks; at most 64 are admitted',
      { content: Array.from({ length: 65 }, () => text) },
    ],
    [
      'result_too_large',
      'content and structured_content have 786433 bytes as JSON; their bound is 786432',
      { content: `${kib(767)}${'x'.repeat(1023)}` },
    ],
    [
      'result_too_large',
      'content and structured_content have 788482 bytes as JSON; their bound is 786432',
      { content: 'é'.repeat(385 * 1024) },
    ],
    [
      'result_too_large',
      'content and structured_content have 787460 bytes as JSON; their bound is 786432',
      { content: kib(600), structured_content: kib(169) },
    ],
    ['invalid_title', 'title must be a string of at most 256 characters', { title: 'x'.repeat(257) }],
    ['invalid_title', 'title must be a string of at most 256 characters', { title: '😀'.repeat(257) }],
    ['invalid_title', 'title must be a string of at most 256 characters', { title: null }],
    ['validation_failed', 'metadata must be an object', { metadata: [] }],
    ['validation_failed', 'metadata must be an object', { metadata: null }],
    [
      'metadata_too_large',
      'metadata has 65546 bytes as JSON; its bound is 65536',
      { metadata: { note: kib(64).slice(1) } },
    ],
    ['result_unstorable', 'content holds a NUL or a lone surrogate', { content: 'a\0' }],
    [
      'result_unstorable',
      'content holds a NUL or a lone surrogate',
      { content: [{ ...text, text: '\ud800' }] },
    ],
    [
      'result_unstorable',
      'structured_content holds a NUL or a lone surrogate',
      { structured_content: { '\0': 1 } },
    ],
    ['result_unstorable', 'title holds a NUL or a lone surrogate', { title: '\udc00' }],
    ['result_unstorable', 'metadata holds a NUL or a lone surrogate', { metadata: { checkpoint: ['\0'] } }],
  ])('%s: %s', (code, message, body) => {
    expect(faultOf(body)).toEqual({ code, message });
  });

  it('for its size before its metadata, and for NULs last, since those close the task', () => {
    expect(faultOf({ content: kib(800), metadata: 7 })?.code).toBe('result_too_large');
    expect(faultOf({ content: 'a\0', metadata: 7 })?.code).toBe('validation_failed');
  });

  it('by a refusal with the code of its first fault', () => {
    const body = { content: 7 };
    expect(() => checkResult(body, memberTexts(JSON.stringify(body)))).toThrow(Refusal);
    expect(() => checkResult({}, new Map())).not.toThrow();
  });

  it('by nothing but a fault, whatever JSON it is', () => {
    const fields = fc.record(
      {
        content: fc.jsonValue(),
        structured_content: fc.jsonValue(),
        title: fc.jsonValue(),
        metadata: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(fields, (body) => expect(typeof (faultOf(body)?.code ?? '')).toBe('string')));
  });
});
