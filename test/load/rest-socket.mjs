import { once } from 'node:events';
import { connect } from 'node:net';

/** A connection that was quiet for longer is made anew, before the server closes it under a request. */
const MOST_QUIET_MS = 30_000;
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * A keep-alive connection to a REST door for one request at a time: as much of HTTP/1.1 as the door's JSON answers need,
 * so that a call's cost is the door's and not the client library's. Throws on every answer but 2xx.
 */
export class RestSocket {
  received = [];
  usedAt = 0;

  constructor(url, token) {
    const { hostname, port } = new URL(url);
    this.address = { host: hostname, port: Number(port), noDelay: true };
    this.head = `HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n`;
  }

  /** One request; answers the body. */
  async ask(method, path, body) {
    if (!this.socket || this.socket.destroyed || performance.now() - this.usedAt > MOST_QUIET_MS)
      await this.connect();
    const entity = body === undefined ? '\r\n' : jsonEntity(body);
    const answer = await new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
      this.socket.write(`${method} ${path} ${this.head}${entity}`);
    });
    this.usedAt = performance.now();
    return answer;
  }

  async connect() {
    this.socket?.destroy();
    const socket = connect(this.address);
    this.socket = socket;
    await once(socket, 'connect');
    socket.on('data', (chunk) => this.hear(chunk));
    const lost = (fault) => {
      if (socket === this.socket) this.settle('reject', fault);
    };
    socket.on('error', lost);
    socket.on('close', () => lost(new Error('the connection was closed under a request')));
  }

  hear(chunk) {
    this.received.push(chunk);
    const bytes = this.received.length === 1 ? chunk : Buffer.concat(this.received);
    const headEnd = bytes.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = bytes.toString('latin1', 0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    const bodyStart = headEnd + HEAD_END.length;
    if (bytes.length < bodyStart + length) return;
    this.received = [];
    const text = bytes.toString('utf8', bodyStart);
    if (Number.isNaN(length)) this.settle('reject', new Error(`an answer without a length: ${head}`));
    else if (!head.startsWith('HTTP/1.1 2')) this.settle('reject', new Error(`${head}\n${text}`));
    else this.settle('resolve', JSON.parse(text));
  }

  settle(how, value) {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.[how](value);
  }
}

function jsonEntity(body) {
  const text = JSON.stringify(body);
  return `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
