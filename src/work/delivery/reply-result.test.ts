import { describe, expect, it } from '@jest/globals';
import { readCommit } from '../commit-job.js';
import type { TaskClaim } from '../task-claim.js';
import { refusedReply, resultOfReply } from './reply-result.js';

const reply = (text: string, head: Record<string, string> = {}) =>
  resultOfReply({ data: Buffer.from(text), header: (name) => head[name] ?? '' });

const ERROR = { 'Nats-Service-Error': 'disk full', 'Nats-Service-Error-Code': '507' };

describe('The reply to a delivered call', () => {
  it.each([
    ['{"content": "fine"}', { content: 'fine' }],
    [' {"content": null, "extra": 1}', { content: null, extra: 1 }],
    ['{"structured_content": {"n": 1}, "extra": 1}', { structured_content: { n: 1 }, extra: 1 }],
    ['{"outcome": "failed"}', { outcome: 'failed' }],
    ['{"title": "T", "metadata": {"checkpoint": 1}}', { title: 'T', metadata: { checkpoint: 1 } }],
    ['{}', {}],
  ])('is the result as it stands where it is an object of a commit: %s', (text, object) => {
    expect(reply(text)).toEqual({ text, object });
  });

  it.each([
    'words',
    '"words"',
    '42',
    'null',
    '[{"type": "text", "text": "a"}]',
    '{"title": "A book", "pages": 3}',
    '{"celsius": 20}',
    '{broken',
    `{"content": ${'['.repeat(65)}${']'.repeat(65)}}`,
  ])('is text content where it is anything else: %s', (text) => {
    expect(reply(text).object).toEqual({ content: text });
  });

  it('is no content where it is empty', () => {
    expect(reply('').object).toEqual({});
  });

  it.each([
    ['', ERROR, { content: 'disk full', is_error: true }],
    ['/dev/sda1', ERROR, { content: 'disk full\n/dev/sda1', is_error: true }],
    ['{"error": 1}', ERROR, { content: 'disk full\n{"error": 1}', is_error: true }],
    ['', { 'Nats-Service-Error-Code': '507' }, { content: 'error 507', is_error: true }],
    ['{"content": "own words"}', ERROR, { content: 'own words', is_error: true }],
    ['{"structured_content": 1}', ERROR, { structured_content: 1, content: 'disk full', is_error: true }],
  ])('is an error with the headers of a service’s error: %s', (text, head, object) => {
    expect(reply(text, head).object).toEqual(object);
  });

  it('keeps the bytes of what is stored', () => {
    const { job } = readCommit({} as TaskClaim, reply('{"structured_content": {"n": 1.0,  "b": 2}}', ERROR));
    expect(job).toMatchObject({
      structured_content: '{"n": 1.0,  "b": 2}',
      content: '"disk full"',
      is_error: true,
    });
  });

  it('that a commit would be refused for becomes an error that says why', () => {
    const { job, fault } = readCommit({} as TaskClaim, refusedReply('content must be a string'));
    expect(fault).toBeUndefined();
    expect(job).toMatchObject({ outcome: 'completed', is_error: true });
    expect(job.content).toContain('content must be a string');
  });
});
