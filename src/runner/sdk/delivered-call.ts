import { headers, type Msg } from 'nats';
import type { Claimed } from './park.js';

/** A call that Nexus has claimed for this executor and sent to its tool's own subject (chapter 8, Delivery). */
export interface DeliveredCall {
  readonly claimed: Claimed;
  /** Says that the call is committed. */
  readonly done: () => void;
}

/**
 * Reads a delivered call; undefined for a message that is none. Its reply carries no result, which is committed by the verb:
 * it only lets NATS forget the request, and says so.
 */
export function readDeliveredCall(message: Msg, tool: string): DeliveredCall | undefined {
  const head = (name: string): string => message.headers?.get(name) ?? '';
  const [run_public_id, task_key, claimToken] = [
    head('Nexus-Run'),
    head('Nexus-Task'),
    head('Nexus-Claim-Token'),
  ];
  const timeout_ms = Number(head('Nexus-Timeout-Ms'));
  if (run_public_id === '' || task_key === '' || claimToken === '' || !(timeout_ms > 0)) return undefined;
  let tool_input: unknown;
  try {
    tool_input = message.json();
  } catch {
    return undefined;
  }
  const receivedAt = performance.now();
  return {
    claimed: {
      task: { run_public_id, task_key, tool_name: tool, tool_input, timeout_ms, status: 'dispatched' },
      claimToken,
      firstAskedAt: receivedAt,
      lastAskedAt: receivedAt,
    },
    done: () => {
      // the asker chooses where the answer goes, and the server does not check it (chapter 8)
      if (message.reply?.startsWith('_INBOX.')) message.respond(undefined, { headers: committed() });
    },
  };
}

function committed(): ReturnType<typeof headers> {
  const head = headers();
  head.set('Nexus-Committed', 'true');
  return head;
}
