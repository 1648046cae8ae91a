import { createServer } from 'node:net';

/** A port that is free just now on the loopback address. */
export async function freePort() {
  return listenOnce(0);
}

/** Whether the port can be listened on just now. */
export async function isFree(port) {
  return listenOnce(port).then(
    () => true,
    () => false,
  );
}

function listenOnce(port) {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const { port: taken } = server.address();
      server.close(() => resolve(taken));
    });
  });
}
