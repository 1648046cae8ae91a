import { HttpException } from '@nestjs/common';
import type { ErrorCode } from '../errors/error-table.js';
import { Refusal, refuse, refuseUntil } from '../errors/refusal.js';

/** PostgreSQL classes and codes that mean "out of reach": connection, resources, shutdown. */
const DATABASE_LOST = /^(08|53|57P)/;
/** Codes of sockets and of the NATS client that mean the same. */
const CONNECTION_LOST = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DRAINING',
  'CONNECTION_REFUSED',
  'DISCONNECT',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
/** What pg says without a code when a connection is lost or can't be had in time. */
const POOL_LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Cannot use a pool after)/;

/** Fastify's and Nest's own refusals, by status. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_json',
  403: 'not_found',
  404: 'not_found',
  405: 'not_found',
  413: 'content_too_large',
  414: 'parameter_invalid',
  415: 'invalid_json',
};

/**
 * The refusal that a fault is answered with, on both doors. Whatever is not a refusal is `internal_error`, which
 * tells the caller nothing but the request id; `unexpected` says whether it belongs in the log.
 */
export function refusalOf(fault: unknown, requestId: string): { refusal: Refusal; unexpected: boolean } {
  if (fault instanceof Refusal) return { refusal: fault, unexpected: false };
  if (isLost(fault)) return { refusal: refuseUntil('unavailable', 1), unexpected: true };
  const status =
    fault instanceof HttpException
      ? fault.getStatus()
      : (fault as { statusCode?: number } | null)?.statusCode;
  const code =
    status === undefined
      ? undefined
      : (BY_STATUS[status] ?? (isClients(status) ? 'parameter_invalid' : undefined));
  if (code) return { refusal: refuse(code), unexpected: false };
  return { refusal: refuse('internal_error', `request ${requestId} failed`), unexpected: true };
}

const isClients = (status: number): boolean => status >= 400 && status < 500;

/** Whether the database or the bus is out of reach, as far as this fault tells. */
function isLost(fault: unknown): boolean {
  if (!(fault instanceof Error)) return false;
  const { driverError, code } = fault as Error & { driverError?: unknown; code?: unknown };
  if (driverError instanceof Error && driverError !== fault) return isLost(driverError);
  if (fault instanceof AggregateError) return fault.errors.some(isLost);
  if (typeof code === 'string' && (DATABASE_LOST.test(code) || CONNECTION_LOST.has(code))) return true;
  return POOL_LOST.test(fault.message);
}
