import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '../errors/refusal.js';
import { INPUT_LIMIT_BYTES, readSteps, type Step } from './step.js';

const RUNNER = '01990000-0000-7000-8000-000000000001';

const read = (steps: unknown): Step[] => {
  const text = typeof steps === 'string' ? steps : JSON.stringify(steps);
  return readSteps(JSON.parse(text), text);
};

const refusalOf = (steps: unknown): string => {
  try {
    read(steps);
  } catch (fault) {
    if (fault instanceof Refusal) return `${fault.code}: ${fault.message}`;
    throw fault;
  }
  return 'accepted';
};

const call = (fields: object = {}): object => ({ call: { name: 'read', input: {}, ...fields } });
const tool = (fields: object = {}): object => ({ tool: { name: 'read', input: {}, ...fields } });
const route = (fields: object): object => tool({ route: { kind: 'runner', ...fields } });

describe('Steps', () => {
  it.each<[string, unknown]>([
    ['validation_failed: steps must be a list of steps', {}],
    ['validation_failed: steps must hold 1 to 64 steps, not 0', []],
    ['validation_failed: steps must hold 1 to 64 steps, not 65', Array.from({ length: 65 }, () => call())],
    ['validation_failed: steps[0] must be an object', [7]],
    ['parameter_missing: steps[0].call or steps[0].tool is required', [{}]],
    ['validation_failed: steps[0] must carry either call or tool, not both', [{ ...call(), ...tool() }]],
    ['validation_failed: steps[0].call must be an object', [{ call: [] }]],
    ['parameter_missing: steps[1].call.name is required', [call(), call({ name: undefined })]],
    ['validation_failed: steps[0].tool.name must be a string', [tool({ name: 7 })]],
    ['parameter_missing: steps[0].call.input is required', [call({ input: undefined })]],
    ['validation_failed: steps[0].call.input must be an object', [call({ input: [] })]],
    ['validation_failed: steps[0].call.input must be an object', [call({ input: null })]],
    ['key_taken: steps[1].tool.key repeats a', [call({ key: 'a' }), tool({ key: 'a' })]],
    ['invalid_tool_route: steps[0].tool.route must be an object', [tool({ route: null })]],
    ['invalid_tool_route: steps[0].tool.route.kind must be runner', [tool({ route: {} })]],
    [
      'invalid_tool_route: steps[0].tool.route.runner_executor_public_id must be a UUID',
      [route({ runner_executor_public_id: null })],
    ],
    [
      'invalid_tool_route: steps[0].tool.route.runner_executor_public_id must be a UUID',
      [route({ runner_executor_public_id: 'here' })],
    ],
    [
      'invalid_tool_route: steps[0].tool.route.tool_name must be the name of the step',
      [route({ runner_executor_public_id: RUNNER, tool_name: 'write' })],
    ],
    ['accepted', [route({ runner_executor_public_id: RUNNER, tool_name: 'read' })]],
    ['accepted', [route({})]],
    ['accepted', Array.from({ length: 64 }, () => call())],
  ])('%s', (expected, steps) => {
    expect(refusalOf(steps)).toBe(expected);
  });

  it.each(['', '-a', '_a', 'a b', 'a'.repeat(65), 7, null])('refuse the key %j', (key) => {
    expect(refusalOf([call({ key })])).toMatch(/^validation_failed: steps\[0\]\.call\.key must match/);
  });

  it.each([0, -1, 1.5, 3_600_001, '5', null, true])('refuse the timeout %j', (timeout_ms) => {
    expect(refusalOf([call({ timeout_ms })])).toBe(
      'invalid_timeout_ms: steps[0].call.timeout_ms must be an integer from 1 to 3600000',
    );
  });

  it.each([1, 3_600_000])('admit the timeout %j', (timeout_ms) => {
    expect(read([call({ timeout_ms })])[0]?.timeoutMs).toBe(timeout_ms);
  });

  it.each(['', 'x'.repeat(257), 7, '\0', '\ud800'])('refuse the tool_call_id %j', (tool_call_id) => {
    expect(refusalOf([call({ tool_call_id })])).toMatch(/^validation_failed: steps\[0\]\.call\.tool_call_id/);
  });

  it('bound an input at 256 KiB of its bytes as they were sent', () => {
    const ofBytes = (bytes: number): string =>
      `[{"call":{"name":"read","input":{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}}}]`;
    expect(refusalOf(ofBytes(INPUT_LIMIT_BYTES))).toBe('accepted');
    expect(refusalOf(ofBytes(INPUT_LIMIT_BYTES + 1))).toBe(
      `validation_failed: steps[0].call.input is ${INPUT_LIMIT_BYTES + 1} bytes; at most ${INPUT_LIMIT_BYTES} are allowed`,
    );
    const wide = `[{"call":{"name":"read","input":{"a":"${'é'.repeat(INPUT_LIMIT_BYTES / 2)}"}}}]`;
    expect(refusalOf(wide)).toMatch(/^validation_failed/);
  });

  it('keep the bytes of every input', () => {
    const text = '[ {"call" : {"input" : { "b":1.0,"a" : [ 1e2,"\\u00e9" ],"b":2 } ,"name":"read"}} ]';
    expect(read(text)[0]?.inputText).toBe('{ "b":1.0,"a" : [ 1e2,"\\u00e9" ],"b":2 }');
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1, maxLength: 5 }),
        (inputs) => {
          const texts = inputs.map((input) => JSON.stringify(input, null, 1));
          const steps = `[${texts.map((input) => `{"tool":{"name":"n","input":${input}}}`).join(' , ')}]`;
          expect(read(steps).map(({ inputText }) => inputText)).toEqual(texts);
        },
      ),
    );
  });

  it('ignore unknown fields', () => {
    expect(refusalOf([{ ...call({ later: true }), more: 1 }])).toBe('accepted');
  });
});
