/** Every subject of chapter 8, built and read in one place. `prefix` is `NEXUS_BUS_PREFIX`. */
export class Subjects {
  constructor(readonly prefix: string) {}

  /** What Nexus listens on for one verb of the executor plane. */
  executorVerb(verb: string): string {
    return `${this.prefix}.executor.*.*.${verb}`;
  }

  /** What Nexus listens on for one verb of the member plane. */
  memberVerb(verb: string): string {
    return `${this.prefix}.member.*.${verb}`;
  }

  /** Pushes to one executor at one epoch. */
  work(executorId: string, epoch: number): string {
    return `${this.prefix}.work.${executorId}.${epoch}`;
  }

  /** Delivers a call of one served tool to an executor at one epoch. */
  tool(executorId: string, epoch: number, tool: string): string {
    return `${this.prefix}.tool.${executorId}.${epoch}.${tool}`;
  }

  /** Among nodes. */
  node(topic: string): string {
    return `${this.prefix}.node.${topic}`;
  }

  /** What a registration tells an executor: prefixes, the inbox's without the trailing dot. */
  forExecutor(
    executorId: string,
    epoch: number,
  ): { executor: string; work: string; tool: string; inbox_prefix: string } {
    const address = `${executorId}.${epoch}`;
    return {
      executor: `${this.prefix}.executor.${address}`,
      work: this.work(executorId, epoch),
      tool: `${this.prefix}.tool.${address}`,
      inbox_prefix: executorInbox(executorId, epoch),
    };
  }

  /** What a member's credential tells its holder. */
  forMember(credentialId: string): { member: string; inbox_prefix: string } {
    return { member: `${this.prefix}.member.${credentialId}`, inbox_prefix: memberInbox(credentialId) };
  }

  /** Who speaks on a subject of either plane, since the subject proves it; undefined for any other subject. */
  speaker(subject: string): Speaker | undefined {
    if (!subject.startsWith(`${this.prefix}.`)) return undefined;
    const [plane, id = '', third = ''] = subject.slice(this.prefix.length + 1).split('.');
    if (plane === 'member') return { id, inbox: memberInbox(id) };
    if (plane !== 'executor' || !/^[1-9]\d{0,8}$/.test(third)) return undefined;
    return { id, epoch: Number(third), inbox: executorInbox(id, Number(third)) };
  }
}

export interface Speaker {
  /** The executor's public id, or the member's credential id. */
  readonly id: string;
  readonly epoch?: number;
  /** The only place an answer may go to. */
  readonly inbox: string;
}

const executorInbox = (executorId: string, epoch: number): string => `_INBOX.${executorId}-${epoch}`;
const memberInbox = (credentialId: string): string => `_INBOX.${credentialId}`;
