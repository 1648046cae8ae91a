import type { AccountId } from '../db/account-id.js';
import type { MemberCaller, PlatformCaller } from '../doors/caller.js';

/** Who reads runs, tasks and conversations, on either plane. */
export interface Viewer {
  readonly accountId: AccountId;
  readonly memberId: string;
  readonly isAdmin: boolean;
}

/** Whose a run or a conversation is. */
export interface Owned {
  readonly accountId: AccountId;
  readonly principalId: string;
  /** The principal's steward, where it is an agent. */
  readonly stewardId: string | null;
}

export const viewerOf = (caller: MemberCaller | PlatformCaller): Viewer => ({
  accountId: caller.accountId,
  memberId: caller.memberId,
  isAdmin: caller.plane === 'platform' || caller.role === 'admin',
});

/** Seen by its principal, that agent's steward and account admins; to everyone else it is not there (chapter 5). */
export function sees(viewer: Viewer, { accountId, principalId, stewardId }: Owned): boolean {
  if (viewer.accountId !== accountId) return false;
  return viewer.isAdmin || viewer.memberId === principalId || viewer.memberId === stewardId;
}
