import { nexusCommand } from './nexus.command.js';

// a reader that has seen enough, as `head` has, is no fault
process.stdout.on('error', (fault: NodeJS.ErrnoException) => process.exit(fault.code === 'EPIPE' ? 0 : 1));

/** Runs the command line. A fault is one line on standard error and exit code 1. */
try {
  await nexusCommand().parseAsync(process.argv);
} catch (fault) {
  process.stderr.write(`nexus: ${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exitCode = 1;
}
