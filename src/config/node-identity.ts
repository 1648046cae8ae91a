import { v7 } from 'uuid';

/** This process among the nodes: its instance id on the bus. New at every start. */
export const NODE_ID = v7();

export { PRODUCT_VERSION } from '../services-protocol/product-version.js';
