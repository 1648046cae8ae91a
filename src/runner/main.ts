import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { command } from './program/options.js';
import { runProgram } from './program/run.js';
import { stderrLog } from './program/stderr-log.js';

/** The command of the reference runner. Its action ends the process: with 0 when it was told to stop, else with 1. */
export function runnerCommand(): Command {
  return command(async (options) => {
    const [stop, stopAtOnce] = [new AbortController(), new AbortController()];
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (stop.signal.aborted) stopAtOnce.abort();
        stop.abort(new Error('told to stop'));
      });
    }
    const log = stderrLog(options.verbose ? 'debug' : 'info');
    try {
      await runProgram(options, log, { stop: stop.signal, stopAtOnce: stopAtOnce.signal });
    } catch (fault) {
      if (fault !== stop.signal.reason) {
        log('error', fault instanceof Error ? fault.message : String(fault));
        process.exit(1);
      }
      log('info', 'stopped before it had begun');
    }
    process.exit(0);
  });
}

/** Runs the reference runner with the arguments of a command line, without the program's name. */
export async function runRunner(argv: readonly string[]): Promise<void> {
  await runnerCommand()
    .name('nexus runner')
    .parseAsync([...argv], { from: 'user' });
}

const startedAs = process.argv[1];
if (startedAs !== undefined && import.meta.url === pathToFileURL(realpathSync(startedAs)).href) {
  await runRunner(process.argv.slice(2));
}
