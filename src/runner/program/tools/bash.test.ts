import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { call, type Shown, ScratchRoot } from '../../../../test/runner/scratch-root.js';
import type { ServedTool } from '../../sdk/tool.js';
import { bashTool } from './bash.js';

let scratch: ScratchRoot;
let bash: ServedTool;
beforeEach(async () => {
  scratch = await ScratchRoot.make();
  bash = bashTool(await scratch.root());
});
afterEach(() => scratch.remove());

describe('bash', () => {
  it('runs a command in the root folder and answers its output', async () => {
    await scratch.put('a.txt', 'hello');
    expect(await call(bash, { command: 'pwd; cat a.txt; echo; echo problem >&2' })).toEqual({
      content: `${scratch.path}\nhello\nproblem\n`,
      is_error: false,
      structured_content: {
        exit_code: 0,
        signal: null,
        timed_out: false,
        output_bytes: scratch.path.length + 15,
        truncated: false,
      },
    });
  });

  it('reports an exit code other than 0 as an error of the command, with its output', async () => {
    expect(await call(bash, { command: 'echo partly; exit 3' })).toMatchObject({
      content: 'partly\n\n[exit code 3]',
      is_error: true,
      structured_content: { exit_code: 3 },
    });
    expect(await call(bash, { command: 'true' })).toMatchObject({ content: '(no output)', is_error: false });
  });

  it('sees no secret of Nexus and no database address', async () => {
    const set = {
      NEXUS_PLATFORM_SECRET: 'p',
      DATABASE_URL: 'postgres://x',
      NATS_URL: 'nats://x',
      PGPASSWORD: 'x',
      KEPT_NAME: 'kept',
    };
    Object.assign(process.env, set);
    try {
      const { content } = await call(bash, { command: 'env' });
      expect(content).toContain('KEPT_NAME=kept');
      expect(content).not.toMatch(/NEXUS_|DATABASE_URL|NATS_URL|PGPASSWORD/);
    } finally {
      for (const name of Object.keys(set)) delete process.env[name];
    }
  });

  it('bounds its output, keeping the beginning and the end, and holds no NUL', async () => {
    const { content, structured_content } = await call(bash, {
      command: 'echo first; yes | head -c 1000000; printf "la\\0st"',
    });
    expect(Buffer.byteLength(content)).toBeLessThan(129 * 1024);
    expect(content).toMatch(/^first\n/);
    expect(content).toMatch(/bytes left out …\]/);
    expect(content).toMatch(/la\ufffdst$/);
    expect(structured_content).toMatchObject({ truncated: true, output_bytes: 1_000_011 });
  });

  it('shows its output while it runs', async () => {
    const shown = notifying(() => void scratch.put('go', ''));
    await call(bash, { command: 'echo one; until [ -e go ]; do sleep 0.02; done; echo two' }, { shown });
    expect(shown.map(({ text_tail }) => text_tail)).toEqual(['one\n', 'one\ntwo\n']);
  });

  it('is ended when it takes longer than it may', async () => {
    const { content, is_error, structured_content } = await call(bash, {
      command: 'echo begun; sleep 60',
      timeout_ms: 1_500,
    });
    expect(content).toBe('begun\n\n[ended after 1500 ms: it took too long]');
    expect(is_error).toBe(true);
    expect(structured_content).toMatchObject({ exit_code: null, timed_out: true });
  });

  it('ends with its whole process group when the call is canceled, those too that do not listen', async () => {
    const stop = new AbortController();
    const command =
      'trap "" TERM; (trap "" TERM; echo $BASHPID > child; sleep 60) & echo $$ > leader; echo begun; wait';
    const running = call(
      bash,
      { command },
      { signal: stop.signal, shown: notifying(() => stop.abort(new Error('canceled'))) },
    );
    await expect(running).rejects.toThrow('begun');
    for (const name of ['leader', 'child'])
      expect(await isGone(Number(await readFile(scratch.at(name), 'utf8')))).toBe(true);
  }, 15_000);

  it('leaves no process of its group behind, nor waits for one that keeps the output open', async () => {
    const started = performance.now();
    await call(bash, { command: 'sleep 60 & echo $! > left' });
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(await isGone(Number(await readFile(scratch.at('left'), 'utf8')))).toBe(true);
  });

  it('does not wait for a process that left its group and keeps the output open', async () => {
    const started = performance.now();
    const left =
      'setsid sh -c "echo \\$\\$ > far; exec sleep 60" & until [ -s far ]; do sleep 0.02; done; echo done';
    expect(await call(bash, { command: left })).toMatchObject({ content: 'done\n' });
    expect(performance.now() - started).toBeLessThan(20_000);
    process.kill(Number(await readFile(scratch.at('far'), 'utf8')), 'SIGKILL');
  });

  it('is not started for a call that was canceled before', async () => {
    const signal = AbortSignal.abort(new Error('canceled'));
    await expect(call(bash, { command: 'touch made' }, { signal })).rejects.toThrow('canceled');
    await expect(readFile(scratch.at('made'))).rejects.toThrow('ENOENT');
  });

  it.each([
    [{}, 'command is required'],
    [{ command: 'a\0b' }, 'command holds a NUL character'],
    [{ command: 'true', timeout_ms: 0 }, 'timeout_ms must be an integer from 1 to 3600000'],
  ])('refuses %j', async (input, words) => {
    await expect(call(bash, input)).rejects.toThrow(words);
  });
});

/** Calls `heard` at the first frame. */
function notifying(heard: () => void): Shown[] {
  const shown: Shown[] = [];
  shown.push = (...frames) => {
    heard();
    return Array.prototype.push.apply(shown, frames);
  };
  return shown;
}

/** Whether a process has ended: it may still be waiting for its parent to hear of it. */
async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 100; tries += 1) {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
    if (state === undefined || / [ZX] /.test(state)) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}
