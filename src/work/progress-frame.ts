import type { ExecutorCaller } from '../doors/caller.js';
import type { JsonBody } from '../doors/body.js';
import { refuse } from '../errors/refusal.js';
import { memberTexts } from '../kernel/json/scan.js';
import { claimOn, type TaskClaim } from './task-claim.js';

/** Bytes of a frame as JSON (chapter 6, Progress). */
const FRAME_LIMIT_BYTES = 64 * 1024;

/** A progress frame: whose it is, and what is shown of it, which never holds the token. */
export interface ProgressFrame {
  readonly claim: TaskClaim;
  readonly shown: { readonly text_tail?: string; readonly structured?: unknown };
}

/** Reads `{frame: {run_public_id, task_key, claim_token, text_tail?, structured?}}`. Throws what is wrong with it. */
export function readFrame(caller: ExecutorCaller, body: JsonBody): ProgressFrame {
  const { frame } = body.object;
  if (frame === undefined) throw refuse('parameter_missing', 'frame is required');
  if (typeof frame !== 'object' || frame === null || Array.isArray(frame)) {
    throw refuse('validation_failed', 'frame must be an object');
  }
  const bytes = Buffer.byteLength(memberTexts(body.text).get('frame') ?? '');
  if (bytes > FRAME_LIMIT_BYTES) {
    throw refuse('frame_too_large', `frame has ${bytes} bytes as JSON; its bound is ${FRAME_LIMIT_BYTES}`);
  }
  const fields = frame as Record<string, unknown>;
  const text = (name: string): string => textOf(fields, name);
  const claim = claimOn(caller, text('run_public_id'), text('task_key'), text('claim_token'));
  const { structured } = fields;
  return {
    claim,
    shown: {
      ...(fields['text_tail'] === undefined ? {} : { text_tail: text('text_tail') }),
      ...(structured === undefined ? {} : { structured }),
    },
  };
}

function textOf(frame: Record<string, unknown>, name: string): string {
  const value = frame[name];
  if (value === undefined) throw refuse('parameter_missing', `frame.${name} is required`);
  if (typeof value !== 'string') throw refuse('validation_failed', `frame.${name} must be a string`);
  return value;
}
