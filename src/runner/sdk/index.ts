/** The SDK's public face: everything a runner needs to serve tools through Nexus. */
export type { LeftOut, OnInvalid } from './announce.js';
export { RefusedError } from './refused-error.js';
export type { Registration } from './registration.js';
export { connectRunner, Runner, type RunnerOptions } from './runner.js';
export * from './tool.js';
export type { ServedEndpoint } from './tool-subscriptions.js';
