import type { ClientBase } from 'pg';

const TABLES = `
  select c.oid, c.relname as name, c.relpersistence = 'u' as unlogged
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public' and c.relkind = 'r' and c.relname <> 'schema_migrations' order by c.relname`;

const COLUMNS = `
  select a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || case when a.attnotnull then ' not null' else '' end
    || case when a.attidentity <> '' then ' generated always as identity' else '' end
    || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as line
  from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped order by a.attnum`;

const CONSTRAINTS = `
  select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid) as line
  from pg_constraint where conrelid = $1 and contype in ('p', 'u', 'f', 'c') order by contype, conname`;

const INDEXES = `
  select pg_get_indexdef(i.indexrelid) || ';' as line
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where i.indrelid = $1 and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  order by c.relname`;

const FUNCTIONS = `
  select pg_get_functiondef(p.oid) as line from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'public' order by p.proname`;

/** The schema as text, to be read by people and compared by CI: tables, columns, constraints, indexes, functions, all sorted. */
export async function dumpSchema(client: ClientBase): Promise<string> {
  const parts = ['-- What the migrations make. Written by `npm run schema`; do not edit.\n'];
  const { rows: tables } = await client.query<{ oid: number; name: string; unlogged: boolean }>(TABLES);
  for (const { oid, name, unlogged } of tables) {
    const lines = [...(await linesOf(client, COLUMNS, oid)), ...(await linesOf(client, CONSTRAINTS, oid))];
    const body = lines.map((line) => `  ${line}`).join(',\n');
    const indexes = (await linesOf(client, INDEXES, oid)).map((line) => `${line}\n`).join('');
    parts.push(`create ${unlogged ? 'unlogged ' : ''}table ${name} (\n${body}\n);\n${indexes}`);
  }
  for (const line of await linesOf(client, FUNCTIONS)) parts.push(`${line.trimEnd()};\n`);
  return parts.join('\n');
}

async function linesOf(client: ClientBase, query: string, oid?: number): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(query, oid === undefined ? [] : [oid]);
  return rows.map(({ line }) => line);
}
