export function members(text: string): Map<string, string>;
export function listed(text: string): string[];
export function within(text: string, ...keys: string[]): string | undefined;
export function laidOut(text: string, present?: (piece: string) => string): string;
