const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 base32 in capitals, without padding: how nkeys are written. */
export function toBase32(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(held >>> (bits - 5)) & 31];
    held &= 0xff;
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31];
}

/** Undefined for a text with any other letter. Bits that fill no byte are dropped. */
export function fromBase32(text: string): Buffer | undefined {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const letter of text) {
    const value = ALPHABET.indexOf(letter);
    if (value < 0) return undefined;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) bytes.push((held >>> (bits -= 8)) & 0xff);
  }
  return Buffer.from(bytes);
}
