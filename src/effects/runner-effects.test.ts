import { describe, expect, it } from '@jest/globals';
import { writeJson } from '../db/json-text.js';
import type { FirstWriteRow } from './first-writes.sql.js';
import { projectEffects } from './runner-effects.js';

const row = (checkpoint_text: string | null): FirstWriteRow => ({
  of: 'run',
  runner_id: 'runner',
  run_id: 'run',
  task_key: 'k',
  claimed_at: new Date(0),
  checkpoint_text,
});

const written = (rows: FirstWriteRow[], isPruned = false): unknown =>
  JSON.parse(writeJson(projectEffects(rows, isPruned)));

const fact = {
  runner_executor_public_id: 'runner',
  run_public_id: 'run',
  task_key: 'k',
  claimed_at: '1970-01-01T00:00:00.000Z',
};

describe('runner_effects', () => {
  it('are untouched without a claimed write', () => {
    expect(written([])).toEqual({ status: 'untouched', runners: [] });
  });

  it('are touched with one', () => {
    expect(written([row(null)])).toEqual({ status: 'touched', runners: [fact] });
  });

  it('tell a checkpoint that is null from one that is absent', () => {
    expect(written([row('null')])).toEqual({ status: 'touched', runners: [{ ...fact, checkpoint: null }] });
  });

  it('show a checkpoint byte for byte', () => {
    expect(writeJson(projectEffects([row('{ "b":1.0,"a":2 }')], false))).toContain(
      '"checkpoint":{ "b":1.0,"a":2 }',
    );
  });

  it('are unavailable once pruned, whatever is still shown', () => {
    expect(written([row(null)], true)).toEqual({
      status: 'unavailable',
      runners: [fact],
      reason: 'execution_details_pruned',
    });
  });
});
