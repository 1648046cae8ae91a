import type { ErrorCode } from '../errors/error-table.js';

/** The planes of chapter 1; `open` verbs need no credential (health, metrics, documents). */
export type Plane = 'member' | 'executor_transport' | 'platform';

/** The route families that are limited separately (chapter 9). */
export type RateClass = 'work' | 'progress' | 'claim_status' | 'general';

/** A query or header parameter, as the Swagger document shows it. */
export interface VerbParameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly description: string;
  readonly required?: boolean;
  readonly example?: string | number;
  readonly enum?: readonly string[];
}

/**
 * A verb, declared once as data: who may call it, where it is found on both doors, what it answers and refuses.
 * Guards, routes, subjects, the services protocol and the Swagger document are all read from it.
 */
export interface VerbDeclaration {
  /** Unique; the operation id, and on the bus the last token of the subject unless `busVerb` says otherwise. */
  readonly name: string;
  readonly plane: Plane | 'open';
  readonly rate: RateClass;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Where REST finds it; `status` is that of the success (default 200). `{name}` marks a path parameter. */
  readonly rest?: {
    readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
    readonly path: string;
    readonly status?: number;
    /** The status of a success that found what it asks for already there. */
    readonly repeatStatus?: number;
  };
  /** Whose subjects it is served on, on the bus (chapter 8): an executor's, or those of a credential. */
  readonly bus?: 'executor' | 'member';
  /** The last token of its subject, where that is not its name. */
  readonly busVerb?: string;
  /** The seat that announces it on the bus, and as what; a verb without one is announced with its plane. */
  readonly seat?: {
    readonly name: 'controller' | 'console';
    readonly endpoint: string;
    readonly metadata?: Readonly<Record<string, string>>;
  };
  /** The answer may come much later than the request: the credential must then still be live. */
  readonly waits?: boolean;
  /** The field that names the one executor it reads: the scope guard then answers only eligible members. */
  readonly addresses?: string;
  readonly parameters?: readonly VerbParameter[];
  /** An example of the body, also the source of its documented schema. */
  readonly request?: { readonly example: unknown; readonly description?: string };
  readonly response: { readonly description: string; readonly example?: unknown; readonly type?: string };
  /** Its own refusals. Those of its plane, of parsing and of rate are added for every verb. */
  readonly refusals: readonly ErrorCode[];
}

/** Every refusal that a verb may answer with, sorted by status. */
export function refusalsOf(verb: VerbDeclaration): ErrorCode[] {
  const codes = new Set<ErrorCode>(verb.refusals);
  if (verb.plane !== 'open') codes.add('unauthorized').add('rate_limited').add('unavailable');
  if (verb.request) codes.add('invalid_json').add('content_too_large');
  codes.add('internal_error');
  return [...codes];
}

const declared = new Map<string, VerbDeclaration>();

/** The last token of the subject that a verb is served on. */
export const busVerbOf = ({ name, busVerb }: VerbDeclaration): string => busVerb ?? name;

/** Declares a verb. Throws when the name is taken: two verbs would share a subject or an operation id. */
export function declareVerb<const V extends VerbDeclaration>(verb: V): V {
  if (declared.has(verb.name)) throw new Error(`Two verbs are named ${verb.name}`);
  const shares = ({ bus, ...other }: VerbDeclaration): boolean =>
    verb.bus !== undefined && bus === verb.bus && busVerbOf({ ...other, bus }) === busVerbOf(verb);
  if ([...declared.values()].some(shares)) throw new Error(`Two verbs share the subject of ${verb.name}`);
  declared.set(verb.name, verb);
  return verb;
}

/** All verbs of the program, for the tests that walk every one of them. */
export const declaredVerbs = (): VerbDeclaration[] => [...declared.values()];
