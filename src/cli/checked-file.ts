import { readFile, writeFile } from 'node:fs/promises';

/**
 * Writes a generated file, or with `check` only compares: false when the file is not what would be written.
 */
export async function writeOrCheck(path: string, content: string, check: boolean): Promise<boolean> {
  const current = await readFile(path, 'utf8').catch(() => '');
  if (current === content) return true;
  if (check) {
    process.stderr.write(
      `${path} is out of date: run the same command without --check and commit the file\n`,
    );
    return false;
  }
  await writeFile(path, content);
  return true;
}
