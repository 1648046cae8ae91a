import { execFileSync } from 'node:child_process';
import { Ajv, type ValidateFunction } from 'ajv';
import { builtGo } from './toolchains.js';

/** Reads answers as nats.go and the nats command do. */
export class GoReader {
  private readonly published: ReadonlyMap<string, ValidateFunction>;

  private constructor(private readonly program: string) {
    const schemas = JSON.parse(execFileSync(program, ['schemas'], { encoding: 'utf8' })) as object;
    const ajv = new Ajv({
      strict: false,
      formats: { 'date-time': (text: string) => !Number.isNaN(Date.parse(text)) },
    });
    this.published = new Map(
      Object.entries(schemas).map(([verb, schema]) => [
        `io.nats.micro.v1.${verb}_response`,
        ajv.compile(schema as object),
      ]),
    );
  }

  /** Undefined where there is no Go with the modules. */
  static async build(): Promise<GoReader | undefined> {
    const program = await builtGo('test/interop/go');
    return program === undefined ? undefined : new GoReader(program);
  }

  /** What is wrong with the answers, each a JSON text of one line; empty where they are good. */
  faults(answers: readonly string[]): string[] {
    const input = answers.map((text) => `${text}\n`).join('');
    const lines = execFileSync(this.program, { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    const strictly = lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as string);
    if (strictly.length !== answers.length) throw new Error('not every answer was read');
    return [
      ...strictly.filter((fault) => fault !== ''),
      ...answers.flatMap((text) => this.unlikeThePublished(text)),
    ];
  }

  private unlikeThePublished(text: string): string[] {
    const answer = JSON.parse(text) as { type: string };
    const check = this.published.get(answer.type);
    if (!check) return [`no schema is published for ${answer.type}`];
    return check(answer)
      ? []
      : (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }
}
