const MOST_FUNCTIONS = 40;
const MOST_GROUPS = 20;

/** Where a V8 CPU profile of `calls` calls spent its time by itself: by group of files, and by function. */
export function profileTables(profile, calls) {
  const microseconds = new Map(profile.nodes.map(({ id }) => [id, 0]));
  profile.samples.forEach((id, index) =>
    microseconds.set(id, microseconds.get(id) + profile.timeDeltas[index]),
  );
  const [groups, functions] = [new Map(), new Map()];
  const add = (map, key, us) => map.set(key, (map.get(key) ?? 0) + us);
  for (const { id, callFrame } of profile.nodes) {
    if (callFrame.functionName === '(idle)') continue;
    const { group, place } = placeOf(callFrame);
    add(groups, group, microseconds.get(id));
    add(functions, `${callFrame.functionName || '(anonymous)'}  ${place}`, microseconds.get(id));
  }
  const total = [...groups.values()].reduce((sum, us) => sum + us, 0);
  const table = (map, key, most) =>
    [...map]
      .sort(([, one], [, other]) => other - one)
      .slice(0, most)
      .map(([name, us]) => ({
        us_a_call: Number((us / calls).toFixed(1)),
        share: `${((100 * us) / total).toFixed(1)} %`,
        [key]: name,
      }));
  return {
    us_a_call: Number((total / calls).toFixed(0)),
    groups: table(groups, 'group', MOST_GROUPS),
    functions: table(functions, 'function', MOST_FUNCTIONS),
  };
}

/** `src/work` and `src/work/claims.service.js:12`, `pg` and `pg/lib/client.js:3`, `node:net`, or V8 itself. */
function placeOf({ url, lineNumber, functionName }) {
  if (url === '') return { group: functionName.startsWith('(') ? functionName : 'built in', place: '' };
  if (url.startsWith('node:')) return { group: url.split('/').slice(0, 2).join('/'), place: url };
  const path = decodeURIComponent(url).split('/dist/').at(-1).split('/node_modules/').at(-1);
  const parts = path.split('/');
  return {
    group: parts.slice(0, parts[0].match(/^(src|@)/) ? 2 : 1).join('/'),
    place: `${path}:${lineNumber + 1}`,
  };
}
