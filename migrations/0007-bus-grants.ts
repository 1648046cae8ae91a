import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Who may speak on a managed bus, and what its server was told of that (chapter 8).
 * Locks: `credentials` exclusively while a column and an index are added; a second on a large table.
 */
export class BusGrants0007 implements MigrationInterface {
  readonly name = 'BusGrants0000000000007';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      -- the public key of the bus user that was issued beside the secret; nobody keeps the private one
      alter table credentials add column bus_user_key text;
      create index credentials_revoked_users on credentials (account_id, revoked_at desc)
        where bus_user_key is not null and revoked_at is not null;

      -- accounts that have bus users: a node holds a connection for each
      create table bus_accounts (
        account_id uuid primary key references accounts,
        -- versions of what the server should know of the account, and of what it was told
        wanted bigint not null default 1,
        told bigint not null default 0,
        -- when the account's JWT was issued that it was told, in seconds; a newer one is later
        issued_at bigint not null default 0
      );
      create index bus_accounts_untold on bus_accounts (account_id) where told < wanted;
    `);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`
      drop table bus_accounts;
      drop index credentials_revoked_users;
      alter table credentials drop column bus_user_key;
    `);
  }
}
