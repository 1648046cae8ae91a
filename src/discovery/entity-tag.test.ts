import { describe, expect, it } from '@jest/globals';
import type { DiscoveryTagRow } from './discovery.sql.js';
import { namesTag, tagOf } from './entity-tag.js';

const row: DiscoveryTagRow = {
  id: '01990000-0000-7000-8000-000000000001',
  kind: 'runner',
  display_name: 'Build box',
  status: 'active',
  assignment_scope: 'account_wide',
  modules: ['tools'],
  machine: 'build-box',
  last_seen_at: new Date(1),
  connected_at: new Date(1),
  announced_at: new Date(1),
  version: '1',
  ready_ms: null,
  on_page: true,
};

describe('the tag of rows', () => {
  it('is a weak one', () => {
    expect(tagOf([row], 'whole')).toMatch(/^W\/"[A-Za-z0-9_-]{22}"$/);
  });

  it.each<[string, Partial<DiscoveryTagRow>]>([
    ['last_seen_at', { last_seen_at: new Date(2) }],
    ['connected_at', { connected_at: null }],
    ['how long it stays credential-ready', { ready_ms: 5 }],
  ])('stays the same when only %s changes', (_, change) => {
    expect(tagOf([{ ...row, ...change }], 'whole')).toBe(tagOf([row], 'whole'));
  });

  it.each<[string, DiscoveryTagRow[]]>([
    ['the announcement', [{ ...row, version: '2' }]],
    ['the display name', [{ ...row, display_name: 'Other' }]],
    ['the modules', [{ ...row, modules: ['tools', 'files'] }]],
    ['the machine', [{ ...row, machine: 'other' }]],
    ['the scope', [{ ...row, assignment_scope: 'user_private' }]],
    ['the number of rows', [row, { ...row, id: '01990000-0000-7000-8000-000000000002' }]],
    ['everything', []],
  ])('changes with %s', (_, rows) => {
    expect(tagOf(rows, 'whole')).not.toBe(tagOf([row], 'whole'));
  });

  it('changes with what is around the rows', () => {
    expect(tagOf([row], 'whole next')).not.toBe(tagOf([row], 'whole'));
  });
});

describe('If-None-Match', () => {
  it.each([
    ['W/"a"', 'W/"a"', true],
    ['"a"', 'W/"a"', true],
    ['"x", W/"a"', 'W/"a"', true],
    ['*', 'W/"a"', true],
    ['W/"b"', 'W/"a"', false],
    ['a', 'W/"a"', false],
    ['', 'W/"a"', false],
  ])('%s against %s: %s', (asked, tag, named) => {
    expect(namesTag(asked, tag)).toBe(named);
  });
});
