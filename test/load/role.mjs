/**
 * One role of a peer in a process of its own: `node role.mjs <peer's file> <peer's name> <role>`, forked. The first
 * message is the role's context; it answers `{ready}`. A role that makes calls answers every further message, a plan of
 * the closed loop, with what came out.
 */
import { once } from 'node:events';
import { closedLoop } from './closed-loop.mjs';

const [, , file, name, role] = process.argv;
// the rig decides the order in which things end; a terminal's Ctrl-C reaches us too
process.on('SIGINT', () => {});
process.once('disconnect', () => process.exit(0));
const { peers } = await import(file);
const [context] = await once(process, 'message');
const { call, stop } = (await peers.find((peer) => peer.name === name).roles[role](context)) ?? {};

process.once('SIGTERM', () => void Promise.resolve(stop?.()).finally(() => process.exit(0)));
process.on('message', (plan) => {
  closedLoop({ ...plan, call }).then(
    (result) => process.send({ result }),
    (fault) => process.send({ fault: fault.stack ?? String(fault) }),
  );
});
process.send({ ready: true });
