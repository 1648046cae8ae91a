import { Command } from 'commander';
import { settingRows } from '../config/env.js';

/** `nexus env`: the table of settings, as README.md shows it. */
export function envCommand(): Command {
  return new Command('env')
    .description('list every setting (environment variable) with its default and meaning')
    .action(() => {
      const rows = settingRows();
      const width = (texts: string[]): number => Math.max(...texts.map((text) => text.length));
      const names = width(rows.map(({ name }) => name));
      const fallbacks = width(rows.map(({ fallback }) => fallback));
      const lines = rows.map(
        ({ name, fallback, meaning }) => `${name.padEnd(names)}  ${fallback.padEnd(fallbacks)}  ${meaning}\n`,
      );
      process.stdout.write(lines.join(''));
    });
}
