/** Lets one call at a time change a file, so that two edits of it never lose one another's work. */
export class PathLocks {
  private readonly tails = new Map<string, Promise<unknown>>();

  /** Runs `work` when every earlier holder of `path` has ended. */
  async hold<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.tails.get(path) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.tails.set(path, turn);
    try {
      return await turn;
    } finally {
      if (this.tails.get(path) === turn) this.tails.delete(path);
    }
  }
}
