import type { ProgressFrame } from './wire.js';

/** Nexus drops frames that come faster than one a 250 ms for a task. */
const FRAME_EVERY_MS = 250;

/** A frame is at most 64 KiB; this leaves room for its names and the token, and for escapes in the text. */
const MOST_TEXT = 16 * 1024;
const MOST_FRAME_BYTES = 60 * 1024;

type Frame = Pick<ProgressFrame, 'text_tail' | 'structured'>;

/** Sends the latest frame of one call, at most one each 250 ms; a lost one is not sent again. */
export class Progress {
  private next: Frame | undefined;
  private timer: NodeJS.Timeout | undefined;
  private sentAt = -Infinity;
  private ended = false;

  constructor(private readonly send: (frame: Frame) => void) {}

  show(frame: Frame): void {
    if (this.ended) return;
    this.next = frame;
    this.timer ??= setTimeout(
      () => this.flush(),
      Math.max(0, this.sentAt + FRAME_EVERY_MS - performance.now()),
    );
  }

  /** Nothing more is shown: the result is the last word. */
  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
  }

  private flush(): void {
    this.timer = undefined;
    this.sentAt = performance.now();
    const frame = this.next && fitting(this.next);
    if (frame) this.send(frame);
  }
}

/** Nexus stores and shows no NUL and no lone surrogate. */
const wellFormed = (text: string): string => Buffer.from(text).toString().replaceAll('\0', '\ufffd');

/** The end of a text that is too long, without half a surrogate pair; undefined where nothing is left that fits. */
function fitting({ text_tail: text, structured }: Frame): Frame | undefined {
  const tail = text === undefined ? undefined : wellFormed(text.slice(-MOST_TEXT));
  const frame = {
    ...(tail !== undefined && { text_tail: tail }),
    ...(structured !== undefined && { structured }),
  };
  return Buffer.byteLength(JSON.stringify(frame)) <= MOST_FRAME_BYTES
    ? frame
    : tail === undefined
      ? undefined
      : { text_tail: tail };
}
