import { hostname } from 'node:os';
import { v7 } from 'uuid';

/** This process among the nodes: its instance id on the bus. New at every start. */
export const NODE_ID = v7();

/** Where this process runs, as a machine's name that no executor may have (chapter 1). */
export const NODE_MACHINE = `nexus-${hostname()
  .toLowerCase()
  .replace(/[^a-z0-9_-]+/g, '-')}`.slice(0, 64);

export { PRODUCT_VERSION } from '../services-protocol/product-version.js';
