import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Assembled } from '../assembly/assembly.service.js';
import { FrozenDeclaration } from '../assembly/frozen-declaration.js';
import type { AccountId } from '../db/account-id.js';
import { Database } from '../db/database.js';
import { JsonText } from '../db/json-text.js';
import { type Sql, statement } from '../db/statement.js';

const readDeclarations = statement<
  [accountId: AccountId, digests: readonly Buffer[]],
  { digest: Buffer; tool_definitions: string; environment: string }
>(
  'declarations_read',
  `select digest, tool_definitions::text as tool_definitions, environment::text as environment
   from declarations where account_id = $1 and digest = any ($2::bytea[])`,
);

/** Characters of declarations that a node keeps read. */
const KEPT_CHARACTERS = 64 * 1024 * 1024;
/** What a declaration weighs beside its texts. */
const DECLARATION_CHARACTERS = 1_024;

/** A frozen declaration: its two JSON texts as they are answered, and what they mean. */
export interface StoredDeclaration {
  readonly toolDefinitions: JsonText;
  readonly environment: JsonText;
  readonly frozen: FrozenDeclaration;
}

/** Declarations by digest, parsed once. A digest names one content, so nothing that is remembered can be out of date. */
@Injectable()
export class DeclarationStore {
  private readonly kept = new LRUCache<string, StoredDeclaration>({
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ toolDefinitions, environment }) =>
      DECLARATION_CHARACTERS + toolDefinitions.text.length + environment.text.length,
  });

  constructor(private readonly database: Database) {}

  /** The declaration of a run that is not pruned; undefined when retention was faster. */
  async get(
    accountId: AccountId,
    digest: Buffer,
    sql: Sql = this.database,
  ): Promise<StoredDeclaration | undefined> {
    return (await this.all(accountId, [digest], sql)).get(digest.toString('hex'));
  }

  /** Those of these that exist, by their digest in hexadecimal; the unknown ones are read in one statement. */
  async all(
    accountId: AccountId,
    digests: readonly Buffer[],
    sql: Sql = this.database,
  ): Promise<ReadonlyMap<string, StoredDeclaration>> {
    const found = new Map<string, StoredDeclaration>();
    const missing = new Map<string, Buffer>();
    for (const digest of digests) {
      const name = digest.toString('hex');
      const known = this.kept.get(keyOf(accountId, name));
      if (known) found.set(name, known);
      else missing.set(name, digest);
    }
    if (missing.size === 0) return found;
    for (const row of await sql.rows(readDeclarations, accountId, [...missing.values()])) {
      const name = row.digest.toString('hex');
      const declaration = readDeclaration(row.tool_definitions, row.environment);
      this.kept.set(keyOf(accountId, name), declaration);
      found.set(name, declaration);
    }
    return found;
  }
}

/** What was just assembled, as it will be read back. */
export const asStored = ({ toolDefinitions, environment }: Assembled): StoredDeclaration =>
  readDeclaration(toolDefinitions.text, environment.text);

const keyOf = (accountId: AccountId, digest: string): string => `${accountId}/${digest}`;

const readDeclaration = (toolDefinitions: string, environment: string): StoredDeclaration => ({
  toolDefinitions: new JsonText(toolDefinitions),
  environment: new JsonText(environment),
  frozen: FrozenDeclaration.read(toolDefinitions, environment),
});
