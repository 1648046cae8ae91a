import { ToolError } from '../sdk/tool.js';

/** Reads the fields of a call's input. Each method throws `ToolError` naming the field that has a wrong value. */
export class Input {
  private readonly fields: Readonly<Record<string, unknown>>;

  constructor(input: unknown) {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw new ToolError('input must be an object');
    this.fields = input as Record<string, unknown>;
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw new ToolError(`${name} is required`);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.own(name);
    if (value !== undefined && typeof value !== 'string') throw new ToolError(`${name} must be a string`);
    return value;
  }

  flag(name: string): boolean {
    const value = this.own(name) ?? false;
    if (typeof value !== 'boolean') throw new ToolError(`${name} must be true or false`);
    return value;
  }

  integer(
    name: string,
    { least, most, otherwise }: { least: number; most: number; otherwise: number },
  ): number {
    const value = this.own(name) ?? otherwise;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
      throw new ToolError(`${name} must be an integer from ${least} to ${most}`);
    }
    return value;
  }

  /** `null` counts as absent: models send it for optional fields. */
  private own(name: string): unknown {
    return Object.hasOwn(this.fields, name) ? (this.fields[name] ?? undefined) : undefined;
  }
}
