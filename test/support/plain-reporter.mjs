/** The last line of a run, plain: `N passed, N failed, N skipped`. */
export default class PlainReporter {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } =
      results;
    this.line = `${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed, ${numPendingTests + numTodoTests} skipped`;
    process.once('exit', () => process.stdout.write(`${this.line}\n`));
  }
}
