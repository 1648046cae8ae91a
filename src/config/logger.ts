import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

/** Whatever these are called in a log line, their value is not written (chapter 1). */
const SECRET_PATHS = [
  'authorization',
  '*.authorization',
  'secret',
  '*.secret',
  'claim_token',
  '*.claim_token',
  'token',
  '*.token',
];

/** The process's structured log: one JSON line an event, on standard output. */
export function createPino(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: SECRET_PATHS });
}

/** What Nest says of its own wiring at every start: only worth reading when looking for a fault. */
const WIRING = new Set([
  'InstanceLoader',
  'NestFactory',
  'NestMicroservice',
  'RouterExplorer',
  'RoutesResolver',
]);

/** Nest's logger on pino; the context a class logs with becomes the field `context`. */
export class PinoLoggerService implements LoggerService {
  constructor(private readonly pino: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write(WIRING.has(String(rest.at(-1))) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(
    level: 'info' | 'error' | 'warn' | 'debug' | 'fatal',
    message: unknown,
    rest: unknown[],
  ): void {
    const context = rest.at(-1);
    const fields = message instanceof Error ? { message: message.message, stack: message.stack } : message;
    if (typeof fields === 'object' && fields !== null) {
      const { message: text, ...others } = fields as { message?: unknown };
      this.pino[level]({ context, ...others }, typeof text === 'string' ? text : undefined);
    } else {
      this.pino[level]({ context }, String(fields));
    }
  }
}
