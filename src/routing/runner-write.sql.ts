/**
 * SQL: the first claim of this call writes the capture (chapter 7): it is a write, at a runner. Over a task `t`, or what
 * becomes one. The one rule for a claim, for a delivery and for an acceptance that is a claim at once.
 */
export const isRunnerWrite = (t: string): string =>
  `(${t}.addressed_role = 'runner' and ${t}.effect_profile::json ->> 'kind' = 'write')`;
