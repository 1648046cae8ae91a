import { Command } from 'commander';
import { readEnv } from '../config/env.js';
import { writeOrCheck } from './checked-file.js';

/** `nexus openapi`: writes the OpenAPI document, or checks that the committed one is current. Needs no services. */
export function openapiCommand(): Command {
  return new Command('openapi')
    .description('write the OpenAPI document of the REST API')
    .option('--out <file>', 'where it goes', 'docs/openapi.json')
    .option('--check', 'only compare: exit 1 when the file is out of date', false)
    .action(async ({ out, check }: { out: string; check: boolean }) => {
      const { createNode } = await import('../create-node.js');
      const { openApiDocument } = await import('../doors/openapi.js');
      const app = await createNode(readEnv({ LOG_LEVEL: 'silent' }), { preview: true });
      const text = `${JSON.stringify(openApiDocument(app), null, 2)}\n`;
      process.exit((await writeOrCheck(out, text, check)) ? 0 : 1);
    });
}
