import { describe, expect, it } from '@jest/globals';
import { restorationJson } from './restoration.js';
import type { RestorationRow } from './restorations.sql.js';

const row = (fields: Partial<RestorationRow> = {}): RestorationRow => ({
  id: 'restoration',
  from_run_id: 'from',
  run_id: 'run',
  is_pruned: false,
  runner_id: 'runner',
  task_key: 'runner',
  status: 'completed',
  is_error: false,
  error_key: null,
  error_detail: null,
  ...fields,
});
const running = row({ status: 'dispatched', is_error: null });
const failed = row({ status: 'failed', is_error: null, error_key: 'tool_failed', error_detail: 'words' });
const unavailable = row({ status: null, task_key: null, is_error: null, error_key: 'no_checkpoint' });

interface Shown {
  restoration: { status: string; targets: { status: string; error?: { key: string } }[] };
}
const shown = (...rows: [RestorationRow, ...RestorationRow[]]): Shown['restoration'] =>
  (restorationJson(rows) as Shown).restoration;

describe('A target of a restoration', () => {
  it.each<[string, Partial<RestorationRow>, string, string | undefined]>([
    ['dispatched', { status: 'dispatched' }, 'running', undefined],
    ['resting after a retry', { status: 'needs_approval' }, 'running', undefined],
    ['completed', {}, 'restored', undefined],
    ['completed with an error', { is_error: true }, 'failed', 'tool_failed'],
    ['failed', { status: 'failed', error_key: 'tool_failed' }, 'failed', 'tool_failed'],
    ['denied', { status: 'failed', error_key: 'approval_denied' }, 'failed', 'approval_denied'],
    ['timed out', { status: 'timed_out', error_key: 'tool_timeout' }, 'failed', 'tool_timeout'],
    ['uncertain', { status: 'uncertain', error_key: 'tool_uncertain' }, 'failed', 'tool_uncertain'],
    ['canceled', { status: 'canceled' }, 'failed', 'canceled'],
    [
      'its runner revoked',
      { status: 'failed', error_key: 'executor_revoked' },
      'unavailable',
      'executor_revoked',
    ],
    [
      'its tool withdrawn',
      { status: 'failed', error_key: 'tool_not_served' },
      'unavailable',
      'tool_not_served',
    ],
    ['without a task', unavailable, 'unavailable', 'no_checkpoint'],
  ])('%s', (_, fields, status, key) => {
    const [target] = shown(row(fields)).targets;
    expect([target?.status, target?.error?.key]).toEqual([status, key]);
  });
});

describe('The whole restoration', () => {
  it.each<[string, [RestorationRow, ...RestorationRow[]]]>([
    ['running', [row(), running, failed]],
    ['restored', [row(), row()]],
    ['partial', [row(), failed]],
    ['partial', [unavailable, row()]],
    ['failed', [failed, unavailable]],
    ['restored', [row({ runner_id: null, task_key: null, status: null })]],
  ])('is %s', (status, rows) => {
    expect(shown(...rows).status).toBe(status);
  });
});
