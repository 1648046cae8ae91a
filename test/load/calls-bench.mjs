import { openContestant, PEERS, warm } from './contestants.mjs';
import { residentMiB } from './processes.mjs';
import { machineOf } from './report.mjs';
import { measureInTurn } from './rounds.mjs';
import { Stage } from './stage.mjs';

/** Everybody side by side on one PostgreSQL and one machine: the rows of the result. */
export async function benchCalls(plan) {
  const { say, warmUp } = plan;
  say('Starting PostgreSQL, NATS, Nexus and its peers');
  const stage = await Stage.open();
  const { pid } = await stage.startNexus();
  const machine = await machineOf(stage);
  const contestants = [];
  for (const peer of PEERS) {
    const contestant = await openContestant(stage, peer);
    if (contestant.absent) say(`Left out: ${contestant.name}, since ${contestant.absent}`);
    else contestants.push(contestant);
  }
  say(`Warming each of them with ${warmUp} calls`);
  for (const contestant of contestants) await warm(contestant, warmUp);
  const rows = await measureInTurn(contestants, plan);
  say(`The node's memory after all this: ${residentMiB(pid).toFixed(0)} MiB`);
  await stage.close();
  return { machine, rows };
}
