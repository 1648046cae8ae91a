import { hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { command, type ProgramOptions } from './options.js';

async function parsed(line: string): Promise<ProgramOptions> {
  let options: ProgramOptions | undefined;
  const runner = command((given) => {
    options = given;
    return Promise.resolve();
  });
  runner.exitOverride().configureOutput({ writeErr: () => undefined });
  await runner.parseAsync(line.split(' '), { from: 'user' });
  return options as ProgramOptions;
}

describe('The command line of the runner', () => {
  it('takes a registration and a root folder', async () => {
    expect(await parsed('--registration r.json --root .')).toEqual({
      root: '.',
      registration: 'r.json',
      allowBash: false,
      maxConcurrent: 16,
      graceMs: 10_000,
      verbose: false,
    });
  });

  it('takes what it needs to register itself', async () => {
    const { registration } = await parsed(
      '--url http://host:7420/ --member-secret-file s --name build-box --root .',
    );
    expect(registration).toEqual({
      url: 'http://host:7420',
      memberSecretFile: 's',
      name: 'build-box',
      identifier: 'build-box',
    });
    expect((await parsed('--url http://h --member-secret-file s --root .')).registration).toMatchObject({
      name: hostname(),
    });
  });

  it('takes everything else', async () => {
    const line =
      '--registration r --root / --nats-url nats://a,nats://b --allow-bash --max-concurrent 2 --grace 0 --checkpoints c --verbose';
    expect(await parsed(line)).toMatchObject({
      natsUrls: ['nats://a', 'nats://b'],
      allowBash: true,
      maxConcurrent: 2,
      graceMs: 0,
      checkpoints: 'c',
      verbose: true,
    });
  });

  it.each([
    ['--registration r', "required option '--root <folder>' not specified"],
    ['--root .', 'give either --registration, or --url and --member-secret-file'],
    ['--root . --url http://h', 'give either --registration, or --url and --member-secret-file'],
    ['--root . --url ftp://h --member-secret-file s', '--url ftp://h is not the address of an HTTP server'],
    ['--root . --registration r --url http://h', 'cannot be used with'],
    ['--root . --registration r --max-concurrent 0', 'It is an integer from 1 to 1024.'],
    ['--root . --registration r --grace x', 'It is an integer from 0 to 3600.'],
    ['--root . --registration r --nats-url a,,b', 'It is a list of addresses'],
  ])('refuses %p', async (line, words) => {
    await expect(parsed(line)).rejects.toThrow(words);
  });

  it('says plainly what bash is', () => {
    const help: string[] = [];
    const runner = command(() => Promise.resolve()).configureOutput({ writeOut: (text) => help.push(text) });
    runner.outputHelp();
    expect(help.join('')).toMatch(
      /NOT confined to the root folder, with all rights of the\s+account this program runs under/,
    );
  });
});
