import { describe, expect, it } from '@jest/globals';
import { type Mesh, meshTable } from './mesh-table.js';

const MESH: Mesh = {
  asked_at: '2026-01-01T12:00:00.000Z',
  gathered_ms: 312,
  machines: [
    { machine: 'build-box', services: [{ name: 'tools', endpoints: [{ name: 'ls' }, { name: 'read' }] }] },
    { machine: 'nexus-here', services: [{ name: 'nexus-console', endpoints: [{ name: 'call' }] }] },
  ],
  not_answering: [
    { module: 'tools', machine: 'attic', last_seen_at: '2026-01-01T11:00:00.000Z' },
    { module: 'memory', machine: 'cellar', last_seen_at: null },
  ],
  unexpected: [{ service: { name: 'tools', id: 'stranger' }, reason: 'there is no record of it' }],
  malformed: 1,
};

describe('The table of the fleet', () => {
  it('shows machines, services and tools, and what is wrong below', () => {
    expect(meshTable(MESH, 200)).toBe(
      `MACHINE     SERVICE        STATE          TOOLS
build-box   tools          answering      ls read
nexus-here  nexus-console  answering      call
attic       tools          NOT ANSWERING  last seen 2026-01-01T11:00:00.000Z
cellar      memory         NOT ANSWERING  never seen
?           tools          UNEXPECTED     there is no record of it (id stranger)

Asked 2026-01-01T12:00:00.000Z, gathered in 312 ms: 2 machines, 2 services, 3 tools; 2 not answering, 1 unexpected, 1 malformed.
`,
    );
  });

  it('cuts lines at the width of the terminal', () => {
    const [head, first] = meshTable(MESH, 45).split('\n');
    expect(head).toBe('MACHINE     SERVICE        STATE          TO…');
    expect(first).toHaveLength(45);
  });

  it('lets nothing that was answered move the cursor', () => {
    const reason = 'it serves outside its own subjects: \u001b[2J\r\n\u202e';
    const text = meshTable({ ...MESH, unexpected: [{ service: { name: 'x', id: 'y' }, reason }] }, 200);
    expect(text).toContain('its own subjects: ?[2J??? (id y)');
  });

  it('of nothing is its head', () => {
    const empty = { ...MESH, machines: [], not_answering: [], unexpected: [], malformed: 0 };
    expect(meshTable(empty, 80)).toMatch(/^MACHINE {2}SERVICE {2}STATE {2}TOOLS\n\nAsked .*0 machines/);
  });
});
