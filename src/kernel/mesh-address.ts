/** How a tool on the bus is named (chapter 8): `<module>@<machine>/<tool>`, or `<module>/<tool>` where that is enough. */
export interface MeshAddress {
  readonly module: string;
  /** Undefined where none was named. */
  readonly machine: string | undefined;
  readonly toolName: string;
}

const ADDRESS =
  /^(?<module>[A-Za-z0-9_-]{1,64})(?:@(?<machine>[A-Za-z0-9_-]{1,64}))?\/(?<tool>[A-Za-z0-9_-]{1,128})$/;

/** What an address must be, for messages. */
export const ADDRESS_RULE = 'must be <module>@<machine>/<tool> or <module>/<tool>';

/** Undefined for what is no address. */
export function parseAddress(value: unknown): MeshAddress | undefined {
  const parts = typeof value === 'string' ? ADDRESS.exec(value)?.groups : undefined;
  if (!parts) return undefined;
  return { module: parts['module'] ?? '', machine: parts['machine'], toolName: parts['tool'] ?? '' };
}

export const addressText = ({ module, machine, toolName }: MeshAddress): string =>
  `${module}${machine === undefined ? '' : `@${machine}`}/${toolName}`;
