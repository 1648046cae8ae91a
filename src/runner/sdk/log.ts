/** Where the SDK says what happens. `fields` never hold a token, nor the input or the result of a call. */
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export const silent: Log = () => undefined;
