import type { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import { refuse } from '../errors/refusal.js';
import { KERNEL_TOOLS } from '../kernel/catalogue.js';
import { isObject } from '../kernel/json/is-object.js';
import { memberTexts } from '../kernel/json/scan.js';
import { readAddressCall } from './address-call.js';
import type { DirectStep, Step } from './step.js';

/** The kernel tools whose call becomes the call of another tool. */
const TOOL_CALL = 'nexus.tools.call';
const CONSOLE_CALL = 'nexus.console.call';

/**
 * A call of `nexus.tools.call` or `nexus.console.call` *becomes* the call it names (chapters 6 and 8): one task under the
 * step's key, with the called tool's target, profile, approval and deadline. It adds no authority: the one names a callable
 * of the frozen declaration, the other an address, which is held to the rules of a member's own call. Any other step stays
 * as it is. Throws `parameter_missing`, `validation_failed` and `invalid_timeout_ms` for a wrong input.
 */
export function calledStep(step: Step, declaration: FrozenDeclaration): Step {
  if (step.kind === 'address') return step;
  switch (becomingOf(step, declaration)) {
    case TOOL_CALL:
      return calledByName(step, declaration);
    case CONSOLE_CALL:
      return readAddressCall(step.input, step.inputText, { ...step, path: `${step.path}.input.` });
    default:
      return step;
  }
}

function calledByName(step: DirectStep, declaration: FrozenDeclaration): Step {
  const path = `${step.path}.input`;
  const { name, input } = step.input;
  if (name === undefined) throw refuse('parameter_missing', `${path}.name is required`);
  if (typeof name !== 'string') throw refuse('validation_failed', `${path}.name must be a string`);
  if (input === undefined) throw refuse('parameter_missing', `${path}.input is required`);
  if (!isObject(input)) throw refuse('validation_failed', `${path}.input must be an object`);
  const called: DirectStep = {
    kind: 'call',
    path,
    name,
    key: step.key,
    timeoutMs: step.timeoutMs,
    toolCallId: step.toolCallId,
    inputText: memberTexts(step.inputText).get('input') ?? '{}',
    input,
  };
  if (becomingOf(called, declaration) === TOOL_CALL)
    throw refuse('validation_failed', `${path}.name must name another tool`);
  return calledStep(called, declaration);
}

/** The canonical name of the kernel tool that the step calls, where its call becomes another. */
function becomingOf(step: DirectStep, declaration: FrozenDeclaration): string | undefined {
  const canonical =
    step.kind === 'call' ? declaration.callables.get(step.name)?.canonical : kernelToolOf(step);
  return canonical === TOOL_CALL || canonical === CONSOLE_CALL ? canonical : undefined;
}

function kernelToolOf({ name, route }: DirectStep & { readonly kind: 'tool' }): string | undefined {
  if (route) return undefined;
  return KERNEL_TOOLS.find((tool) => tool.name === name || tool.canonical_name === name)?.canonical_name;
}
