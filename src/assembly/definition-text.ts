import type { RunnerRoute } from './configuration.js';

/** One entry of `tool_definitions`; every `…Text` is JSON that is spliced in as it is. */
export interface DefinitionParts {
  /** The whole `function` member. */
  readonly functionText: string;
  /** The kernel tool behind an alias. */
  readonly canonicalName?: string | undefined;
  readonly route?: RunnerRoute | undefined;
  readonly deferLoading?: boolean;
  /** The catalogue of a skill callable. */
  readonly documentsText?: string | undefined;
}

/** The JSON text of a definition. A part that is absent leaves no key. */
export function definitionText(parts: DefinitionParts): string {
  const { functionText, canonicalName, route, deferLoading, documentsText } = parts;
  let text = `{"type":"function","function":${functionText}`;
  if (canonicalName !== undefined) text += `,"canonical":${JSON.stringify(canonicalName)}`;
  if (route) text += `,"route":${routeText(route)}`;
  if (deferLoading) text += ',"defer_loading":true';
  if (documentsText !== undefined) text += `,"documents":${documentsText}`;
  return `${text}}`;
}

/** The JSON text of a `function` member, from texts of its description and parameters. */
export function functionText(name: string, descriptionText: string, parametersText: string): string {
  return `{"name":${JSON.stringify(name)},"description":${descriptionText},"parameters":${parametersText}}`;
}

/** The same `function` member with a description that its author left out; its other bytes stay. */
export function describedFunctionText(text: string, descriptionText: string): string {
  return `{"description":${descriptionText},${text.slice(1)}`;
}

function routeText({ runnerId, toolName }: RunnerRoute): string {
  return `{"kind":"runner","runner_executor_public_id":"${runnerId}","tool_name":${JSON.stringify(toolName)}}`;
}
