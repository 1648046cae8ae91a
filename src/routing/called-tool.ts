import type { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import { refuse } from '../errors/refusal.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { memberTexts } from '../kernel/json/scan.js';
import type { Step } from './step.js';

const TOOL_CALL = KERNEL_TOOLS.find(({ canonical_name }) => canonical_name === 'nexus.tools.call');

/**
 * `nexus.tools.call {name, input}` *becomes* the call it names (chapter 6): one task under the step's key, with the called
 * tool's target, profile, approval and deadline. It adds no authority: the name must be a callable of the frozen
 * declaration. Any other step stays as it is. Throws `parameter_missing` and `validation_failed` for a wrong input.
 */
export function calledStep(step: Step, declaration: FrozenDeclaration): Step {
  if (!isToolCall(step, declaration)) return step;
  const path = `${step.path}.input`;
  const { name, input } = step.input;
  if (name === undefined) throw refuse('parameter_missing', `${path}.name is required`);
  if (typeof name !== 'string') throw refuse('validation_failed', `${path}.name must be a string`);
  if (input === undefined) throw refuse('parameter_missing', `${path}.input is required`);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw refuse('validation_failed', `${path}.input must be an object`);
  }
  const called: Step = {
    kind: 'call',
    path,
    name,
    key: step.key,
    timeoutMs: step.timeoutMs,
    toolCallId: step.kind === 'call' ? step.toolCallId : undefined,
    inputText: memberTexts(step.inputText).get('input') ?? '{}',
    input: input as Record<string, unknown>,
  };
  if (isToolCall(called, declaration))
    throw refuse('validation_failed', `${path}.name must name another tool`);
  return called;
}

function isToolCall(step: Step, declaration: FrozenDeclaration): boolean {
  if (step.kind === 'call')
    return declaration.callables.get(step.name)?.canonical === TOOL_CALL?.canonical_name;
  return (
    step.route === undefined && (step.name === TOOL_CALL?.name || step.name === TOOL_CALL?.canonical_name)
  );
}
