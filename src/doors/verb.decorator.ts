import {
  applyDecorators,
  type ExecutionContext,
  RequestMapping,
  RequestMethod,
  SetMetadata,
} from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import {
  ApiBearerAuth,
  ApiBody,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
} from '@nestjs/swagger';
import { ERROR_TABLE, type ErrorCode } from '../errors/error-table.js';
import { refuse } from '../errors/refusal.js';
import { refusalsOf, type VerbDeclaration } from './verb.js';

const VERB = 'nexus:verb';

/** Marks handlers of the bus transport, so that no other transport registers them. */
export const BUS_TRANSPORT = Symbol('nexus:bus');

/**
 * Binds a handler to its verb: the REST route, the bus pattern, what the guards read and what Swagger shows.
 * A handler without it is refused on every door.
 */
export function Verb(verb: VerbDeclaration): MethodDecorator {
  const decorators: MethodDecorator[] = [SetMetadata(VERB, verb)];
  if (verb.rest) decorators.push(...restDecorators(verb, verb.rest));
  if (verb.bus) decorators.push(MessagePattern(verb.name, BUS_TRANSPORT, { verb }));
  return applyDecorators(...decorators);
}

/** The verb of the handler about to run. A handler without one is refused: guards fail closed. */
export function verbOf(context: ExecutionContext): VerbDeclaration {
  const verb = Reflect.getMetadata(VERB, context.getHandler()) as VerbDeclaration | undefined;
  if (!verb) throw refuse('unauthorized');
  return verb;
}

function restDecorators(
  verb: VerbDeclaration,
  rest: NonNullable<VerbDeclaration['rest']>,
): MethodDecorator[] {
  const names = [...rest.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const decorators: MethodDecorator[] = [
    RequestMapping({
      path: rest.path.replace(/\{(\w+)\}/g, ':$1'),
      method: RequestMethod[upper(rest.method)],
    }),
    ApiOperation({
      operationId: verb.name,
      summary: verb.summary,
      description: verb.description ?? '',
      tags: [verb.tag],
    }),
    ...names.map((name) => ApiParam({ name, schema: { type: 'string' } })),
    ...(verb.parameters ?? []).map(parameterDecorator),
    ApiResponse({
      status: rest.status ?? 200,
      description: verb.response.description,
      ...exampleContent(verb),
    }),
    ...(rest.repeatStatus === undefined
      ? []
      : [
          ApiResponse({
            status: rest.repeatStatus,
            description: verb.response.description,
            ...exampleContent(verb),
          }),
        ]),
    ...refusalResponses(verb),
  ];
  if (verb.plane !== 'open') decorators.push(ApiBearerAuth(verb.plane));
  if (verb.request) {
    const { example, description } = verb.request;
    decorators.push(ApiBody({ description: description ?? '', schema: schemaOf(example), required: true }));
  }
  return decorators;
}

function parameterDecorator(parameter: NonNullable<VerbDeclaration['parameters']>[number]): MethodDecorator {
  const { name, description, required = false, example } = parameter;
  const schema = {
    type: typeof example === 'number' ? ('integer' as const) : ('string' as const),
    ...(parameter.enum ? { enum: [...parameter.enum] } : {}),
  };
  return parameter.in === 'query'
    ? ApiQuery({ name, description, required, schema, example })
    : ApiHeader({ name, description, required, schema, example });
}

function exampleContent(verb: VerbDeclaration): object {
  const { example, type = 'application/json' } = verb.response;
  if (example === undefined) return {};
  return {
    content: {
      [type]: { schema: type === 'application/json' ? schemaOf(example) : { type: 'string' }, example },
    },
  };
}

function refusalResponses(verb: VerbDeclaration): MethodDecorator[] {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of refusalsOf(verb)) {
    const { status } = ERROR_TABLE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus].map(([status, codes]) =>
    ApiResponse({
      status,
      description: codes.map((code) => `\`${code}\`: ${ERROR_TABLE[code].meaning}`).join('\n\n'),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/ErrorEnvelope' },
          examples: Object.fromEntries(
            codes.map((code) => [code, { value: { error: { code, message: ERROR_TABLE[code].meaning } } }]),
          ),
        },
      },
    }),
  );
}

/** A loose JSON Schema read off an example: good enough to read and to try, never used to validate. */
function schemaOf(example: unknown): Record<string, unknown> {
  if (example === null) return { nullable: true, example };
  if (Array.isArray(example))
    return { type: 'array', items: example.length > 0 ? schemaOf(example[0]) : {}, example };
  if (typeof example === 'object') {
    const properties = Object.entries(example).map(([key, value]) => [key, schemaOf(value)]);
    return { type: 'object', properties: Object.fromEntries(properties) as object, example };
  }
  return { type: Number.isInteger(example) ? 'integer' : typeof example, example };
}

const upper = (method: string): 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' => method.toUpperCase() as 'GET';
