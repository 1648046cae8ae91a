/** A NUL this early in a file says that it is not text. */
const LOOK_AT_BYTES = 8_192;

/** Whether bytes are something else than text: they hold a NUL early on, which Nexus would not store either. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, LOOK_AT_BYTES).includes(0);

/** Bytes as text; what is not UTF-8 becomes U+FFFD, and a letter cut off at the end is left out. */
export const asText = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });

/** A file name in one line: one with control characters is quoted like JSON. */
export function shownName(name: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f\u007f]/.test(name) ? JSON.stringify(name) : name;
}

/** `1 file`, `2 files`; `plural` where it takes more than an s. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
