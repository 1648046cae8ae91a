import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What a newcomer finds in the local runner's folder. */
const WELCOME = `This folder is all that the local runner serves.

Its tools are read, write, edit, ls and grep. No path of theirs leaves this folder.
`;

/** `$NEXUS_HOME`: data, secrets and logs of one `npm start`. Everything in it is for its owner alone. */
export class Home {
  /** @param {string | undefined} folder */
  constructor(folder) {
    this.folder = resolve(folder || '.nexus');
    // others may pass through, as the account that PostgreSQL runs as must, and list or read nothing
    mkdirSync(this.folder, { recursive: true, mode: 0o711 });
    mkdirSync(join(this.folder, 'logs'), { recursive: true, mode: 0o700 });
    this.workspace = join(this.folder, 'workspace');
    if (!existsSync(this.workspace)) {
      mkdirSync(this.workspace, { mode: 0o700 });
      writeFileSync(join(this.workspace, 'README.txt'), WELCOME);
    }
  }

  /** @param {string} name */
  path(name) {
    return join(this.folder, name);
  }

  /** The file's text, trimmed; undefined when there is none. */
  read(name) {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), 'utf8').trim() : undefined;
  }

  readJson(name) {
    const text = this.read(name);
    return text === undefined ? undefined : JSON.parse(text);
  }

  /** Writes for the owner alone, whole or not at all. */
  write(name, text) {
    const making = this.path(`${name}.${process.pid}`);
    writeFileSync(making, `${text}\n`, { mode: 0o600 });
    renameSync(making, this.path(name));
  }

  writeJson(name, value) {
    this.write(name, JSON.stringify(value, null, 2));
  }
}
