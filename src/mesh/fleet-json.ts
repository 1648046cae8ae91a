import type { AnsweringService, Assignment, Fleet, UnexpectedService } from './fleet.js';

/** The whole fleet, as administrators see it (chapter 8). */
export function fleetJson({ askedAt, gatheredMs, services, ...rest }: Fleet): object {
  const { notAnswering, unexpected, malformed } = rest;
  const machines = new Map<string, object[]>();
  for (const service of [...services].sort(byMachineAndName)) {
    const listed = machines.get(service.machine);
    if (listed) listed.push(serviceJson(service));
    else machines.set(service.machine, [serviceJson(service)]);
  }
  return {
    asked_at: askedAt,
    gathered_ms: gatheredMs,
    machines: [...machines].map(([machine, listed]) => ({ machine, services: listed })),
    not_answering: notAnswering.map(notAnsweringJson),
    unexpected: unexpected.map(unexpectedJson),
    malformed,
  };
}

export const notAnsweringJson = ({ module, machine, executorId, lastSeenAt }: Assignment): object => ({
  module,
  machine,
  executor_public_id: executorId,
  last_seen_at: lastSeenAt,
});

const serviceJson = ({ name, id, version, assignment, endpoints }: AnsweringService): object => ({
  name,
  id,
  version,
  executor_public_id: assignment?.executorId ?? null,
  endpoints,
  state: 'answering',
});

const unexpectedJson = ({ answer, executorId, reason }: UnexpectedService): object => {
  const { name, id, version, endpoints } = answer;
  return { service: { name, id, version, executor_public_id: executorId, endpoints }, reason };
};

function byMachineAndName(one: AnsweringService, other: AnsweringService): number {
  const [a, b] = [one, other].map(({ machine, name, id }) => `${machine}/${name}/${id}`) as [string, string];
  return a < b ? -1 : Number(a > b);
}
