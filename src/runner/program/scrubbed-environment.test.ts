import { describe, expect, it } from '@jest/globals';
import { scrubbedEnvironment } from './scrubbed-environment.js';

const TOKEN = 'nxe_01890000-0000-7000-8000-000000000000_' + 's'.repeat(43);

describe('The environment of commands', () => {
  it.each([
    ['NEXUS_HOME', '/srv/nexus'],
    ['NEXUS_PLATFORM_SECRET', 'x'],
    ['DATABASE_URL', 'x'],
    ['REPORTING_DATABASE_URL', 'x'],
    ['NATS_URL', 'x'],
    ['PGPASSWORD', 'x'],
    ['PGHOST', 'x'],
    ['POSTGRES_PASSWORD', 'x'],
    ['BUILD_TOKEN', TOKEN],
    ['NOTE', `token: ${TOKEN.replace('nxe', 'nxm')}`],
    ['CREDS', '-----BEGIN NATS USER JWT-----\nx'],
    ['STORE', 'postgres://user:word@host/name'],
    ['STORE', 'postgresql://host/name'],
    ['BUS', 'nats://host:4222'],
  ])('never holds %s=%s', (name, value) => {
    expect(scrubbedEnvironment({ [name]: value })).toEqual({});
  });

  it('keeps everything else', () => {
    const kept = {
      PATH: '/bin',
      HOME: '/home/me',
      LANG: 'C.UTF-8',
      GITHUB_TOKEN: 'theirs',
      PAGER: 'less',
      EMPTY: '',
    };
    expect(scrubbedEnvironment(kept)).toEqual(kept);
  });
});
