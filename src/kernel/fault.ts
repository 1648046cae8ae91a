/** What is wrong, and where. A refusal reports the first in `message` and at most 20 in `details` (chapter 2). */
export interface Fault {
  /** As in `tools[0].effect_profile.kind`. */
  readonly path: string;
  /** Begins with the path. */
  readonly message: string;
}

/** The fault that the field at `path` `what`: "must be an object". */
export const fault = (path: string, what: string): Fault => ({ path, message: `${path} ${what}` });
