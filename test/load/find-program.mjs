import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where the PATH has a program; undefined when it has none. */
export function findProgram(name) {
  const files = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
