import { describe, expect, it } from '@jest/globals';
import {
  isCallableName,
  isClaimToken,
  isDocumentName,
  isMachineName,
  isModuleName,
  isReservedModuleName,
  isServedName,
  isTaskKey,
  isUuid,
} from './names.js';

const UUID = '01990000-0000-7000-8000-00000000000a';
const x = (length: number): string => 'x'.repeat(length);

describe.each<[string, (value: unknown) => boolean, admitted: unknown[], refused: unknown[]]>([
  [
    "a served tool's name",
    isServedName,
    ['a', 'Bash_2-x', '-', x(128)],
    ['', x(129), 'a b', 'a.b', 'é', 'a\n', '\na', 'a\0', 7, null, undefined, ['a']],
  ],
  ["a callable's name", isCallableName, ['a', x(64)], ['', x(65), 'a.b', 'a\n', undefined]],
  ["a task's key", isTaskKey, ['a', '9', 'a-b_C', x(64)], ['', '-a', '_a', x(65), 'a.b', 'a\n', 7]],
  [
    "a document's name",
    isDocumentName,
    ['a', 'workspace-tools', '1-2-3', x(64)],
    ['', 'A', '-a', 'a-', 'a--b', 'a_b', x(65), 'a\n', null, `${x(40)}-`.repeat(20_000)],
  ],
  ["a module's name", isModuleName, ['tools', 'Files-2', x(64)], ['', x(65), 'a.b', 'a*', undefined]],
  ["a machine's name", isMachineName, ['box-1', x(64)], ['', x(65), 'a b']],
  [
    'a claim token',
    isClaimToken,
    [x(22), x(128), 'aZ0-_'.repeat(5)],
    [x(21), x(129), `${x(30)}=`, `${x(30)}\n`, 7],
  ],
  [
    'a public id',
    isUuid,
    [UUID],
    ['', UUID.toUpperCase(), UUID.replaceAll('-', ''), `${UUID}\n`, `{${UUID}}`, 7, null, undefined],
  ],
])('%s', (_, isName, admitted, refused) => {
  it.each(admitted)('is admitted: %j', (value) => expect(isName(value)).toBe(true));
  it.each(refused)('is refused: %j', (value) => expect(isName(value)).toBe(false));
});

it.each([
  ['nexus-console', true],
  ['nexus-', true],
  ['nexus', false],
  ['Nexus-a', false],
  ['my-nexus-a', false],
])('Names of modules and machines that start with nexus- are reserved: %s', (name, reserved) => {
  expect(isReservedModuleName(name)).toBe(reserved);
});
