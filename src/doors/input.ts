import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { refuse } from '../errors/refusal.js';
import { JsonBody } from './body.js';

/** What a verb is called with, alike on both doors: path and query parameters and headers beside the body. */
export interface VerbInput {
  readonly body: JsonBody;
  /** A path, query or body field by its name: on REST the path comes first, then the query, then the body. */
  field(name: string): unknown;
  /** A header, by its lower-case name. */
  header(name: string): string | undefined;
}

class RestInput implements VerbInput {
  constructor(private readonly request: FastifyRequest) {}

  get body(): JsonBody {
    return this.request.body instanceof JsonBody ? this.request.body : JsonBody.empty;
  }

  field(name: string): unknown {
    const params = this.request.params as Record<string, string>;
    if (Object.hasOwn(params, name)) return params[name];
    const query = this.request.query as Record<string, unknown>;
    if (Object.hasOwn(query, name)) return query[name];
    return own(this.body.object, name);
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }
}

/** The bus transport's context, as far as the doors need it; `bus/bus-request.ts` implements it. */
export interface BusInput {
  readonly body: JsonBody;
  header(name: string): string | undefined;
}

class BusVerbInput implements VerbInput {
  constructor(private readonly request: BusInput) {}

  get body(): JsonBody {
    return this.request.body;
  }

  field(name: string): unknown {
    return own(this.body.object, name);
  }

  header(name: string): string | undefined {
    return this.request.header(name);
  }
}

/** The call's input, on either door. */
export function inputOf(context: ExecutionContext): VerbInput {
  return context.getType() === 'http'
    ? new RestInput(context.switchToHttp().getRequest<FastifyRequest>())
    : new BusVerbInput(context.switchToRpc().getContext<BusInput>());
}

/** Injects the call's input. */
export const Input = createParamDecorator((_: unknown, context: ExecutionContext): VerbInput =>
  inputOf(context),
);

/** Injects the body as a DTO, which the validation pipe checks by its class. */
export const Fields = createParamDecorator(fieldsOf);

function fieldsOf(_: unknown, context: ExecutionContext): Record<string, unknown> {
  return inputOf(context).body.object;
}

/** A string field that must be there. Throws `parameter_missing`, or `parameter_invalid` for another type. */
export function requiredText(input: VerbInput, name: string): string {
  const value = input.field(name);
  if (value === undefined) throw refuse('parameter_missing', `${name} is required`);
  if (typeof value !== 'string') throw refuse('parameter_invalid', `${name} must be a string`);
  return value;
}

function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
