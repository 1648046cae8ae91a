import { describe, expect, it } from '@jest/globals';
import { Grants, permissionClaims } from './permissions.js';

const grants = new Grants('nexus.v1');
const ASK = ['$SRV.PING', '$SRV.PING.>', '$SRV.INFO', '$SRV.INFO.>', '$SRV.STATS', '$SRV.STATS.>'];
const HOUR_NS = 3_600_000_000_000;

describe('What is granted', () => {
  it('to an executor E at epoch N that serves the modules M', () => {
    const { publish, subscribe, replies } = grants.executor({
      id: 'E',
      epoch: 3,
      modules: ['files', 'shell'],
      serviceIds: 'pinned',
    });
    expect(publish).toEqual(['nexus.v1.executor.E.3.>', ...ASK]);
    expect(subscribe).toEqual([
      '_INBOX.E-3.>',
      'nexus.v1.work.E.3',
      'nexus.v1.tool.E.3.> q',
      ...['PING', 'INFO', 'STATS'].flatMap((verb) => [
        `$SRV.${verb}`,
        `$SRV.${verb}.files`,
        `$SRV.${verb}.files.E`,
        `$SRV.${verb}.shell`,
        `$SRV.${verb}.shell.E`,
      ]),
    ]);
    expect(replies?.max).toBe(2);
  });

  it('to an executor registered with service_ids any, whose libraries mint their own ids', () => {
    const { subscribe } = grants.executor({ id: 'E', epoch: 1, modules: ['m'], serviceIds: 'any' });
    expect(subscribe.filter((subject) => subject.startsWith('$SRV.INFO'))).toEqual([
      '$SRV.INFO',
      '$SRV.INFO.m',
      '$SRV.INFO.m.*',
    ]);
  });

  it('to the holder of a credential C', () => {
    expect(grants.member('C')).toEqual({
      publish: ['nexus.v1.member.C.>', ...ASK],
      subscribe: ['_INBOX.C.>'],
    });
  });

  it('to a node, on every subject of an account but never without the nodes’ queue', () => {
    const { publish, subscribe } = grants.node('ID', ['nexus-executor']);
    expect(publish).toEqual(['nexus.v1.work.>', 'nexus.v1.tool.>', ...ASK, '_INBOX.>']);
    expect(subscribe).toEqual([
      'nexus.v1.executor.> nexus',
      'nexus.v1.member.> nexus',
      '_INBOX.nexus.>',
      ...['PING', 'INFO', 'STATS'].flatMap((verb) => [
        `$SRV.${verb}`,
        `$SRV.${verb}.nexus-executor`,
        `$SRV.${verb}.nexus-executor.ID`,
      ]),
    ]);
  });

  it('is written so that nothing is nothing, since an empty list would allow everything', () => {
    expect(permissionClaims({ publish: [], subscribe: ['a'] })).toEqual({
      pub: { deny: ['>'] },
      sub: { allow: ['a'] },
    });
  });

  it('to answer lasts an hour at least, once for each service of the connection', () => {
    const one = grants.executor({ id: 'E', epoch: 1, modules: [], serviceIds: 'pinned' });
    const { resp } = permissionClaims(one) as { resp: { max: number; ttl: number } };
    expect(resp.max).toBe(1);
    expect(resp.ttl).toBeGreaterThanOrEqual(HOUR_NS);
  });
});
