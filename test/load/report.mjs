import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNatsServer } from '../../src/launch/nats-server.mjs';
import { findProgram } from './find-program.mjs';

export const RESULTS = fileURLToPath(new URL('../../bench-results/', import.meta.url));

/** What the figures were taken on. */
export async function machineOf(stage) {
  const { rows } = await stage.admin.query(`select split_part(version(), ' ', 2) as version`);
  return {
    cpu: cpus()[0].model,
    cores: availableParallelism(),
    memory_gib: Math.round(totalmem() / 2 ** 30),
    os: `${process.platform} ${release()}`,
    node: process.version,
    postgres: rows[0].version,
    nats: versionOf(findNatsServer()),
    redis: versionOf(findProgram('redis-server')),
  };
}

const versionOf = (program) =>
  program ? /\d+\.\d+\.\d+/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[0] : null;

/** Keeps a result as JSON. */
export function keep(folder, name, value) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
  console.log(`Written to ${file}`);
}

/** Prints rows as a table: for a terminal, or as Markdown. */
export function printTable(rows, { markdown = false } = {}) {
  const columns = Object.keys(rows[0]);
  const cells = rows.map((row) => columns.map((column) => textOf(row[column])));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((line) => line[index].length)),
  );
  const isNumber = columns.map(
    (column) => typeof rows.find((row) => row[column] != null)?.[column] === 'number',
  );
  const pad = (text, index) => (isNumber[index] ? text.padStart(widths[index]) : text.padEnd(widths[index]));
  const line = (texts) => (markdown ? `| ${texts.map(pad).join(' | ')} |` : texts.map(pad).join('  '));
  const rule = widths.map((width, index) =>
    isNumber[index] && markdown ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width),
  );
  console.log(['', line(columns), line(rule), ...cells.map(line), ''].join('\n'));
}

const textOf = (value) => (value === null || value === undefined ? '–' : String(value));

/** A row of the result, for the eye: what a call costs is spread over the processes. */
export function forTheEye({
  cpu_us_by_process: by,
  disturbed_rounds: disturbed,
  nexus_cpu_us: _nexus,
  ...row
}) {
  const { generator, handler, nexus, postgres, nats, redis } = by;
  return { ...row, generator, handler, nexus, postgres, nats, redis, disturbed };
}
