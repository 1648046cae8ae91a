import { CallEndedError, ToolError, type ToolResult } from './tool.js';
import type { CommitBody } from './wire.js';

const PARTS = ['content', 'structured_content', 'is_error', 'title', 'metadata'] as const;

/** What is committed of a value that a handler returned. Throws where it is neither a string nor an object. */
export function returned(result: ToolResult): CommitBody {
  if (result === undefined) return {};
  if (typeof result === 'string') return { content: result };
  if (typeof result !== 'object' || result === null)
    throw new TypeError('the handler returned neither a string nor an object');
  return Object.fromEntries(
    PARTS.filter((part) => result[part] !== undefined).map((part) => [part, result[part]]),
  );
}

/**
 * What is committed of a value that a handler threw (chapter 6: `is_error` means that it ran and reports an error,
 * `outcome: "failed"` that it could not run). A handler that was stopped could not run to its end, whatever it threw:
 * the message says who stopped it, and keeps the handler's own words after that.
 */
export function thrown(fault: unknown, signal: AbortSignal): CommitBody {
  const words = storable(fault instanceof Error ? fault.message : String(fault));
  if (signal.aborted && signal.reason instanceof CallEndedError) {
    const { message } = signal.reason;
    return {
      outcome: 'failed',
      content: fault === signal.reason || words === message ? message : `${message}\n${words}`,
    };
  }
  if (!(fault instanceof ToolError)) return { outcome: 'failed', content: words };
  const structured = fault.structuredContent;
  return {
    content: words,
    is_error: true,
    ...(structured !== undefined && { structured_content: structured }),
  };
}

/** A message may quote what it was asked with: what Nexus can't store of it is replaced, so that the rest arrives. */
const storable = (text: string): string =>
  (text as string & { toWellFormed(): string }).toWellFormed().replaceAll('\0', '\ufffd');

/** What is committed instead of a result that Nexus, or JSON, does not take: the tool did run. */
export const refusedResult = (why: string): CommitBody => ({
  is_error: true,
  content: `The tool ran, but its result could not be delivered: ${why}`,
});
