import type { VerbInput } from '../doors/input.js';
import { refuse } from '../errors/refusal.js';
import { memberTexts } from '../kernel/json/scan.js';
import { isUuid } from '../kernel/names.js';
import type { AssemblyRequest } from './assembly.service.js';

import { PROVIDER_FORMATS, type ProviderFormat } from './provider-format.js';
import { isObject } from '../kernel/json/is-object.js';

const SELECTOR = 'default_runner_executor_public_id';

/** Reads the body of `POST …/tools/assembly`. A selector or configuration of a wrong shape is `parameter_missing` (chapter 4). */
export function readAssemblyRequest(input: VerbInput): AssemblyRequest {
  const selector = input.body.object[SELECTOR];
  if (selector === undefined)
    throw refuse('parameter_missing', `${SELECTOR} is required; null selects no runner`);
  if (selector !== null && !isUuid(selector))
    throw refuse('parameter_missing', `${SELECTOR} must be a UUID or null`);
  return { defaultRunnerId: selector, configuration: readConfigurationField(input) };
}

/** The body's `configuration`, as its bytes were sent; undefined where it is absent. Throws `parameter_missing` unless it is an object. */
export function readConfigurationField(input: VerbInput): { readonly text: string } | undefined {
  const { configuration } = input.body.object;
  if (configuration === undefined) return undefined;
  if (!isObject(configuration)) throw refuse('parameter_missing', 'configuration must be an object');
  return { text: memberTexts(input.body.text).get('configuration') ?? '{}' };
}

/** The query's `format`. Throws `parameter_invalid` for one that does not exist. */
export function readFormat(input: VerbInput): ProviderFormat | undefined {
  const format = input.field('format');
  if (format === undefined) return undefined;
  if (PROVIDER_FORMATS.includes(format as ProviderFormat)) return format as ProviderFormat;
  throw refuse('parameter_invalid', `format must be one of ${PROVIDER_FORMATS.join(', ')}`);
}
