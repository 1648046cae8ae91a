import { isAborted, Refused, stream } from './session.js';

/** The server says every 10 s that it lives; a stream that is silent for longer is lost. */
const SILENCE_MS = 25_000;
const PAUSE_MS = { first: 1_000, most: 15_000 };

/**
 * Reads server-sent events by `fetch`, since an `EventSource` can't carry a credential. A stream that ends is opened again:
 * the server then tells everything as it is, so nothing is missed. Resolves when `signal` aborts, throws `Refused` where the
 * server will not have it. `onState` hears `live` and `lost`.
 */
export async function follow(where, { signal, onEvent, onState }) {
  let pauseMs = PAUSE_MS.first;
  while (!signal.aborted) {
    try {
      await readStream(where, signal, (event) => {
        pauseMs = PAUSE_MS.first;
        if (event.name === '') onState('live');
        else onEvent(event);
      });
    } catch (fault) {
      const isFinal = fault instanceof Refused && fault.status < 500 && fault.status !== 429;
      if (isFinal) throw fault;
    }
    if (signal.aborted) return;
    onState('lost');
    await pause(pauseMs, signal);
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS.most);
  }
}

/** One connection, until it ends. What carries no event (an opening, a heartbeat) is told with an empty name. */
async function readStream(where, signal, tell) {
  const silence = new AbortController();
  let alarm;
  const heard = () => {
    clearTimeout(alarm);
    alarm = setTimeout(() => silence.abort(), SILENCE_MS);
  };
  try {
    heard();
    const bytes = await stream(where, AbortSignal.any([signal, silence.signal]));
    const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) tell(eventOf(block));
    }
  } catch (fault) {
    if (fault instanceof Refused || (isAborted(fault) && signal.aborted)) throw fault;
  } finally {
    clearTimeout(alarm);
  }
}

function eventOf(block) {
  const lines = block.split('\n');
  const valuesOf = (field) =>
    lines.filter((line) => line.startsWith(`${field}: `)).map((line) => line.slice(field.length + 2));
  return { name: valuesOf('event')[0] ?? '', text: valuesOf('data').join('\n') };
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
