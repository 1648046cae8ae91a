/** An answer of `GET /platform_api/v1/mesh`, as far as it is shown. */
export interface Mesh {
  readonly asked_at: string;
  readonly gathered_ms: number;
  readonly machines: readonly {
    readonly machine: string;
    readonly services: readonly {
      readonly name: string;
      readonly endpoints: readonly { readonly name: string }[];
    }[];
  }[];
  readonly not_answering: readonly {
    readonly module: string;
    readonly machine: string;
    readonly last_seen_at: string | null;
  }[];
  readonly unexpected: readonly {
    readonly service: { readonly name: string; readonly id: string };
    readonly reason: string;
  }[];
  readonly malformed: number;
}

const HEAD = ['MACHINE', 'SERVICE', 'STATE', 'TOOLS'];

/** The fleet as a table for a terminal of `width` columns, and a last line that sums it up. */
export function meshTable(mesh: Mesh, width: number): string {
  const { machines, not_answering, unexpected, malformed } = mesh;
  const answering = machines.flatMap(({ machine, services }) =>
    services.map(({ name, endpoints }) => [
      machine,
      name,
      'answering',
      endpoints.map((endpoint) => endpoint.name).join(' '),
    ]),
  );
  const silent = not_answering.map(({ machine, module, last_seen_at }) => [
    machine,
    module,
    'NOT ANSWERING',
    last_seen_at === null ? 'never seen' : `last seen ${last_seen_at}`,
  ]);
  const strange = unexpected.map(({ service, reason }) => [
    '?',
    service.name,
    'UNEXPECTED',
    `${reason} (id ${service.id})`,
  ]);
  const tools = machines.flatMap(({ services }) => services.flatMap(({ endpoints }) => endpoints)).length;
  const sum =
    `Asked ${mesh.asked_at}, gathered in ${mesh.gathered_ms} ms: ` +
    `${counted(machines.length, 'machine')}, ${counted(answering.length, 'service')}, ${counted(tools, 'tool')}; ` +
    `${not_answering.length} not answering, ${unexpected.length} unexpected, ${malformed} malformed.`;
  return `${lines([HEAD, ...answering, ...silent, ...strange], width)}\n${sum}\n`;
}

/** Columns as wide as their longest cell; the last one takes what is left of the line, and is cut there. */
function lines(rows: readonly (readonly string[])[], width: number): string {
  const shown = rows.map((row) => row.map(printable));
  const widths = HEAD.slice(0, -1).map((_, column) =>
    Math.max(...shown.map((row) => (row[column] ?? '').length)),
  );
  return shown
    .map((row) => {
      const line = row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
      return `${line.length > width ? `${line.slice(0, Math.max(1, width - 1))}…` : line}`.trimEnd();
    })
    .map((line) => `${line}\n`)
    .join('');
}

/** Whoever answers on the bus chooses its texts: nothing of them moves the cursor. */
const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '?');

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
