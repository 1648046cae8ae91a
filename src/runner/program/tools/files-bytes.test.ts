import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { call, ScratchRoot } from '../../../../test/runner/scratch-root.js';
import type { RootFolder } from '../root-folder.js';
import { filesBytesTool } from './files-bytes.js';

let scratch: ScratchRoot;
let root: RootFolder;
beforeEach(async () => {
  scratch = await ScratchRoot.make();
  root = await scratch.root();
});
afterEach(() => scratch.remove());

const KiB = 1024;

describe('files_bytes', () => {
  const bytes = (input: object) => call(filesBytesTool(root), input);

  it('answers bytes in base64, from where it is asked', async () => {
    await scratch.put('b', Buffer.from([0, 1, 2, 250]));
    expect((await bytes({ path: 'b', offset: 1, length: 2 })).structured_content).toEqual({
      path: 'b',
      offset: 1,
      length: 2,
      size: 4,
      base64: Buffer.from([1, 2]).toString('base64'),
    });
    expect((await bytes({ path: 'b', offset: 9 })).structured_content).toMatchObject({
      length: 0,
      size: 4,
      base64: '',
    });
  });

  it('answers at most 512 KiB, which fits a result in base64', async () => {
    await scratch.put('big', Buffer.alloc(600 * KiB, 7));
    const result = await bytes({ path: 'big' });
    expect(result.structured_content).toMatchObject({ length: 512 * KiB, size: 600 * KiB });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(768 * KiB);
    await expect(bytes({ path: 'big', length: 512 * KiB + 1 })).rejects.toThrow(
      'length must be an integer from 1 to 524288',
    );
  });
});
