import type { Log, LogLevel } from '../sdk/log.js';

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Writes one line for each event to stderr: time, level, message, and the fields as JSON. */
export function stderrLog(least: LogLevel): Log {
  return (level, message, fields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const rest = fields && Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : '';
    process.stderr.write(`${new Date().toISOString()} ${level.padEnd(5)} ${message}${rest}\n`);
  };
}
