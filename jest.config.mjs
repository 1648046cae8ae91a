// temporary: the lead's scratch servers on ports 5999 (PostgreSQL) and 5998 (NATS) serve the tests until the launch engineer's harness replaces this file
import { readFileSync } from 'node:fs';
const rc = JSON.parse(readFileSync('/work/main/.swcrc','utf8')); delete rc.$schema;
process.env.TEST_DATABASE_URL = 'postgres://postgres@127.0.0.1:5999/postgres';
process.env.TEST_NATS_URL = 'nats://127.0.0.1:5998';
export default {
  rootDir: "/work/main", testEnvironment: 'node', extensionsToTreatAsEsm: ['.ts'],
  roots: ['<rootDir>/src', '<rootDir>/test'], testMatch: ['**/*.test.ts'],
  transform: { '\\.ts$': ['@swc/jest', rc] }, resolver: '/tmp/jest.resolver.cjs', testTimeout: 30000, maxWorkers: 2, watchman: false,
};
