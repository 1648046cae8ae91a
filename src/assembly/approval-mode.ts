/** Approval modes from the loosest to the strictest (chapter 6). */
export const APPROVAL_MODES = ['bypass', 'rules', 'ask'] as const;

export type ApprovalMode = (typeof APPROVAL_MODES)[number];

/** Whether `mode` lets more pass than `floor` allows. A run or a profile may be stricter than its floor, never looser. */
export function isLooser(mode: ApprovalMode, floor: ApprovalMode): boolean {
  return APPROVAL_MODES.indexOf(mode) < APPROVAL_MODES.indexOf(floor);
}
