import { peers as bareNats } from './peers/bare-nats.mjs';
import { peers as batched } from './peers/batched.mjs';
import { peers as bullmq } from './peers/bullmq.mjs';
import { peers as mcp } from './peers/mcp.mjs';
import { peers as naive } from './peers/naive.mjs';
import { peers as nexus } from './peers/nexus.mjs';
import { snapshot, treeMicroseconds, foreignShare } from './processes.mjs';

/** Everybody who takes part, in the order of the table. */
export const PEERS = [...bareNats, ...naive, ...batched, ...bullmq, ...mcp, ...nexus];
export const NEXUS_PEERS = nexus;

/** Before anything is measured, calls that make the processes warm. */
const WARM_IN_FLIGHT = 64;

/**
 * A peer on a stage, its processes started: `handler` carries calls out, `generator` makes them, and what stands between
 * them, by name in `processes`. `absent` says why a peer can't take part.
 */
export async function openContestant(stage, peer, { handlerFlags } = {}) {
  const opened = await peer.open(stage);
  if (opened.absent) return { name: peer.name, absent: opened.absent };
  const handler = await stage.startRole(peer, 'handler', opened.context, { execArgv: handlerFlags });
  const context = (await opened.callerContext?.()) ?? opened.context;
  if (context.absent) return { name: peer.name, absent: context.absent };
  const generator = await stage.startRole(peer, 'caller', context);
  const processes = { generator: generator.pid, handler: handler.pid, ...opened.processes };
  return { name: peer.name, peer, stage, generator, processes, database: opened.database };
}

export const warm = ({ generator }, calls) => generator.run({ calls, inFlight: WARM_IN_FLIGHT });

/** Calls by a plan of the closed loop: what came out, and what a call has cost, by process and in the database. */
export async function measure({ stage, generator, processes, database }, plan) {
  const countsBefore = database && (await stage.counts(database));
  const before = snapshot();
  const result = await generator.run(plan);
  const after = snapshot();
  const countsAfter = database && (await stage.counts(database));
  const perCall = (total) => (total === null ? null : total / result.calls);
  const cpu = Object.entries(processes).map(([name, pid]) => [
    name,
    perCall(treeMicroseconds(before, after, pid)),
  ]);
  return {
    calls_per_s: result.calls_per_s,
    p50_ms: result.p50_ms,
    p99_ms: result.p99_ms,
    cpu_us_by_process: Object.fromEntries(cpu),
    statements: database ? perCall(countsAfter.statements - countsBefore.statements) : null,
    commits: database ? perCall(countsAfter.commits - countsBefore.commits) : null,
    foreign: foreignShare(before, after),
  };
}
