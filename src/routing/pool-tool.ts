import type { AnnouncementRecord, ServedTool } from '../announcement/announcement-directory.js';
import type { EffectProfile } from '../kernel/effect-profile.js';

/** What is frozen of a tool that any of several providers may serve. */
export interface PoolTool {
  readonly profile: EffectProfile;
  readonly profileText: string;
  readonly announcedTimeoutMs: number | undefined;
  /** What each provider announced. */
  readonly entries: readonly ServedTool[];
  readonly isOperatorCapability: boolean;
}

/** From the most to the least demanding: a pool is as demanding as its most demanding provider. */
const WORST_FIRST: { readonly [Key in keyof EffectProfile]: readonly EffectProfile[Key][] } = {
  kind: ['write', 'read_only', 'pure'],
  destructive: [true, false],
  effect_scope: ['open', 'closed'],
  idempotency: ['none', 'keyed', 'intrinsic'],
  reconciliation: ['none', 'lookup'],
};

/**
 * The tool of a pool, since nobody knows at acceptance which provider will claim: in every key the worst that one of them
 * announced, the longest timeout, and for people only as soon as one provider describes it to nobody. Undefined where
 * nobody serves it.
 */
export function poolTool(
  announcements: readonly AnnouncementRecord[],
  toolName: string,
): PoolTool | undefined {
  const tools = announcements.flatMap((announcement) => announcement.tools.get(toolName) ?? []);
  const [first] = tools;
  if (!first) return undefined;
  const texts = new Set(tools.map((tool) => tool.effectProfileText));
  const profile = worstOf(tools.map((tool) => tool.effectProfile));
  const timeouts = tools.flatMap(({ timeoutMs }) => timeoutMs ?? []);
  return {
    profile,
    profileText: texts.size === 1 ? first.effectProfileText : JSON.stringify(profile),
    announcedTimeoutMs: timeouts.length === 0 ? undefined : Math.max(...timeouts),
    entries: tools,
    isOperatorCapability: !tools.every(({ modelVisible }) => modelVisible),
  };
}

function worstOf(profiles: readonly EffectProfile[]): EffectProfile {
  const worst = <Key extends keyof EffectProfile>(key: Key): EffectProfile[Key] =>
    WORST_FIRST[key].find((value) =>
      profiles.some((profile) => profile[key] === value),
    ) as EffectProfile[Key];
  return {
    kind: worst('kind'),
    destructive: worst('destructive'),
    effect_scope: worst('effect_scope'),
    idempotency: worst('idempotency'),
    reconciliation: worst('reconciliation'),
  };
}
