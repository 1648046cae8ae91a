import { describe, expect, it } from '@jest/globals';
import { addressText, parseAddress } from './mesh-address.js';

describe('An address', () => {
  it.each([
    ['tools@build-box/ls', { module: 'tools', machine: 'build-box', toolName: 'ls' }],
    ['memory/search', { module: 'memory', machine: undefined, toolName: 'search' }],
    ['a_1@B-2/C_3-x', { module: 'a_1', machine: 'B-2', toolName: 'C_3-x' }],
    [
      `${'m'.repeat(64)}@${'n'.repeat(64)}/${'t'.repeat(128)}`,
      { module: 'm'.repeat(64), machine: 'n'.repeat(64), toolName: 't'.repeat(128) },
    ],
  ])('is read and written alike: %s', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
    expect(addressText(address)).toBe(text);
  });

  it.each([
    '',
    'ls',
    '/ls',
    'tools/',
    'tools@/ls',
    '@box/ls',
    'tools@a@b/ls',
    'tools/ls/x',
    'tools@a.b/ls',
    'tools /ls',
    'tools/ls\n',
    `${'m'.repeat(65)}/ls`,
    `tools@${'m'.repeat(65)}/ls`,
    `tools/${'t'.repeat(129)}`,
    7,
    null,
    undefined,
    ['tools/ls'],
  ])('is not %j', (value) => {
    expect(parseAddress(value)).toBeUndefined();
  });
});
