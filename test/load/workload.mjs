/** What every peer is sent, and sends back: 200 characters of text. */
export const INPUT = { text: 'x'.repeat(200) };

/** Nobody waits longer for an answer, in ms: a call that is lost ends the run with its name. */
export const ANSWER_WITHIN_MS = 60_000;
