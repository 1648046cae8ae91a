import { readFileSync } from 'node:fs';

const { $schema: _schema, ...swc } = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));

const project = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': ['@swc/jest', { ...swc, swcrc: false }] },
  resolver: '<rootDir>/test/support/resolver.cjs',
};

/** `unit`: pure rules beside the code, no services. `system`: real PostgreSQL, real NATS, real nodes. */
export default {
  projects: [
    { ...project, displayName: 'unit', testMatch: ['<rootDir>/src/**/*.test.ts'] },
    {
      ...project,
      displayName: 'system',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
  ],
  reporters: ['default', '<rootDir>/test/support/plain-reporter.mjs'],
  maxWorkers: 2,
  testTimeout: 30_000,
  workerIdleMemoryLimit: '1GB',
  watchman: false,
};
