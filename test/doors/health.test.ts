import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestNode } from '../support/node.js';

describe('Operations', () => {
  let node: TestNode;
  beforeAll(async () => {
    node = await TestNode.start();
  });
  afterAll(() => node.close());

  it('a node with its database and bus is ready', async () => {
    expect(await node.http('GET', '/readyz')).toMatchObject({
      status: 200,
      body: { status: 'ok', database: 'up', bus: 'up' },
    });
  });
});
