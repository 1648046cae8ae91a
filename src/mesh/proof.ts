import { isDeepStrictEqual } from 'node:util';
import type { AnsweringService, Assignment, UnexpectedService } from './fleet.js';
import type { InfoAnswer } from './info-answer.js';

/** One service instance, as it is asked for directly. */
export interface Instance {
  readonly name: string;
  readonly id: string;
}

/** What a directed ask brought, by `keyOf`; absent where nobody answered. */
export type DirectAnswers = ReadonlyMap<string, InfoAnswer>;

export const keyOf = ({ name, id }: Instance): string => `${name}.${id}`;

/** Names of services that only Nexus may have (chapter 1): the server lets nobody else listen there. */
const isSeat = ({ name }: Instance): boolean => name.startsWith('nexus-');

/** Tools that a reason names at most. */
const NAMED_MAX = 5;
/** Unexpected answers that are listed: whoever floods the bus fills no page with it. */
const UNEXPECTED_MAX = 1_000;

/**
 * Who is to be asked directly once everybody was asked at once (chapter 8): whoever answered under an id that a directed
 * ask can prove, and each assignment from which nothing came.
 */
export function instancesToAsk(
  assignments: readonly Assignment[],
  answers: readonly InfoAnswer[],
): Instance[] {
  const heard = new Set(answers.map(keyOf));
  const unprovable = modulesOfAnyId(assignments);
  const asked = new Map<string, Instance>();
  const ask = (instance: Instance): unknown => asked.set(keyOf(instance), instance);
  for (const { module: name, executorId, boundId } of assignments) {
    if (boundId !== null && !heard.has(keyOf({ name, id: boundId }))) ask({ name, id: boundId });
    if (!unprovable.has(name)) ask({ name, id: executorId });
  }
  for (const { name, id } of answers) if (isSeat({ name, id })) ask({ name, id });
  return [...asked.values()];
}

/**
 * Tells the answers that count from those that nobody can vouch for (chapter 8). An answer counts for an executor when its id
 * is the executor's public id and a directed ask agrees, or is the one that its own announcement bound; in a module of which
 * one executor may have any id a directed ask proves nothing. A seat counts when a directed ask agrees.
 */
export function prove(
  assignments: readonly Assignment[],
  answers: readonly InfoAnswer[],
  direct: DirectAnswers,
  prefix: string,
): { services: AnsweringService[]; notAnswering: Assignment[]; unexpected: UnexpectedService[] } {
  const unprovable = modulesOfAnyId(assignments);
  const services: AnsweringService[] = [];
  const notAnswering: Assignment[] = [];
  const unexpected: UnexpectedService[] = [];
  const proven = new Map<string, InfoAnswer>();
  const byKey = grouped(answers);

  for (const assignment of assignments) {
    const answer = ownAnswer(assignment, unprovable, byKey, direct);
    if (answer) {
      proven.set(keyOf(answer), answer);
      const { service, reason } = heldAgainst(assignment, answer);
      services.push(service);
      if (reason !== undefined) unexpected.push({ answer, executorId: assignment.executorId, reason });
    } else if (assignment.declaresTools) notAnswering.push(assignment);
  }
  for (const answer of direct.values()) {
    if (!isSeat(answer)) continue;
    proven.set(keyOf(answer), answer);
    const isOurs = answer.endpoints.every(({ subject }) => subject.startsWith(`${prefix}.`));
    if (isOurs) services.push({ ...answer, machine: answer.machine ?? answer.name, assignment: null });
    else
      unexpected.push({ answer, executorId: null, reason: 'it serves outside the subjects of this Nexus' });
  }
  const told = new Set<string>();
  const owners = ownersOf(assignments);
  for (const answer of answers) {
    const own = proven.get(keyOf(answer));
    if (own && isDeepStrictEqual(own, answer)) continue;
    const text = JSON.stringify(answer);
    if (told.has(text) || told.size >= UNEXPECTED_MAX) continue;
    told.add(text);
    unexpected.push({ answer, ...whyUnexpected(answer, owners, unprovable) });
  }
  return { services, notAnswering, unexpected };
}

/** The answer that counts for an assignment; of several under a bound id the first that fits what was announced. */
function ownAnswer(
  assignment: Assignment,
  unprovable: ReadonlySet<string>,
  heard: ReadonlyMap<string, readonly InfoAnswer[]>,
  direct: DirectAnswers,
): InfoAnswer | undefined {
  const { module: name, executorId, boundId } = assignment;
  const pinned = unprovable.has(name) ? undefined : direct.get(keyOf({ name, id: executorId }));
  if (pinned || boundId === null) return pinned;
  const key = keyOf({ name, id: boundId });
  const bound = [...(heard.get(key) ?? []), ...(direct.has(key) ? [direct.get(key) as InfoAnswer] : [])];
  return bound.find((answer) => heldAgainst(assignment, answer).reason === undefined) ?? bound[0];
}

/** What of an answer is the executor's own, and what of it is not. */
function heldAgainst(
  assignment: Assignment,
  answer: InfoAnswer,
): { readonly service: AnsweringService; readonly reason: string | undefined } {
  const { machine, toolNames, serves } = assignment;
  const named = answer.endpoints.map((endpoint) => ({ endpoint, tool: servedName(assignment, endpoint) }));
  const outside = named.flatMap(({ endpoint, tool }) => (tool === undefined ? [endpoint.subject] : []));
  const others = named.flatMap(({ tool }) => (tool === undefined || toolNames.has(tool) ? [] : [tool]));
  const offered = new Set(named.map(({ tool }) => tool));
  const absent = serves ? [...toolNames].filter((name) => !offered.has(name)) : [];
  const endpoints = named.flatMap(({ endpoint, tool }) =>
    tool !== undefined && toolNames.has(tool) ? [{ ...endpoint, name: tool }] : [],
  );
  const { name, id, version } = answer;
  const reasons = [
    listed('it serves outside its own subjects', outside),
    listed('it serves what it did not announce', others),
    listed('it does not serve what it announced', absent),
  ];
  return {
    service: { name, id, version, machine, assignment, endpoints },
    reason: reasons.flatMap((reason) => reason ?? []).join('; ') || undefined,
  };
}

/** The tool that an endpoint serves, on a subject of the executor's own; undefined on any other subject. */
function servedName(
  { subjects }: Assignment,
  { name, subject }: InfoAnswer['endpoints'][number],
): string | undefined {
  if (subject === subjects.work) return name;
  const tool = subject.startsWith(`${subjects.tool}.`) ? subject.slice(subjects.tool.length + 1) : '';
  return tool === '' || tool.includes('.') ? undefined : tool;
}

function whyUnexpected(
  answer: InfoAnswer,
  owners: ReadonlyMap<string, string>,
  unprovable: ReadonlySet<string>,
): { readonly executorId: string | null; readonly reason: string } {
  const executorId = owners.get(keyOf(answer)) ?? null;
  if (isSeat(answer)) return { executorId, reason: 'no node of Nexus answers so when it is asked directly' };
  if (executorId === null) return { executorId, reason: 'there is no record of it' };
  return {
    executorId,
    reason: unprovable.has(answer.name)
      ? 'its id was not announced, and in its module ids are not pinned'
      : 'its executor does not answer so when it is asked directly',
  };
}

/** Modules in which a directed ask proves nothing: one executor there may listen under any id. */
const modulesOfAnyId = (assignments: readonly Assignment[]): ReadonlySet<string> =>
  new Set(assignments.flatMap(({ module, serviceIds }) => (serviceIds === 'any' ? [module] : [])));

/** Whose record an instance names. */
function ownersOf(assignments: readonly Assignment[]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const { module: name, executorId, boundId } of assignments) {
    owners.set(keyOf({ name, id: executorId }), executorId);
    if (boundId !== null) owners.set(keyOf({ name, id: boundId }), executorId);
  }
  return owners;
}

function grouped(answers: readonly InfoAnswer[]): ReadonlyMap<string, readonly InfoAnswer[]> {
  const groups = new Map<string, InfoAnswer[]>();
  for (const answer of answers) {
    const group = groups.get(keyOf(answer));
    if (group) group.push(answer);
    else groups.set(keyOf(answer), [answer]);
  }
  return groups;
}

/** A reason with the first of what it is about. */
function listed(reason: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const shown = names.slice(0, NAMED_MAX).map((name) => name.slice(0, 128));
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `${reason}: ${shown.join(', ')}${more}`;
}
