import type { EffectProfile } from './effect-profile.js';

/** A tool that the kernel itself serves, as `GET /agent_api/v1/tools` shows it (chapter 3). */
export interface KernelTool {
  readonly canonical_name: string;
  /** The wire name: the callable that a model sees. */
  readonly name: string;
  /** `of_called_tool`: a call of it becomes the call of another tool, with that one's profile (chapter 6). */
  readonly effect_profile: EffectProfile | 'of_called_tool';
  readonly definition: {
    readonly type: 'function';
    readonly function: {
      readonly name: string;
      readonly description: string;
      readonly parameters: Readonly<Record<string, unknown>>;
    };
  };
}

/** The profile of a kernel tool that only reads. */
export const READS_THE_KERNEL: EffectProfile = {
  kind: 'read_only',
  destructive: false,
  effect_scope: 'closed',
  idempotency: 'intrinsic',
  reconciliation: 'none',
};
