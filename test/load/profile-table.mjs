const MOST_FUNCTIONS = 40;
const MOST_GROUPS = 20;

/** Waiting is no work, and `dispatch` is the profiler itself, when it starts and stops. */
const NOT_COUNTED = new Set(['(idle)', 'dispatch']);

/**
 * Where the `cpuUs` of a call go by a V8 CPU profile: what groups of files, and functions, used by themselves. A profile
 * knows shares only, since a thread that another process keeps from running looks busy to it.
 */
export function profileTables({ nodes, samples, timeDeltas }, cpuUs) {
  const selfTimes = new Map();
  samples.forEach((id, index) => selfTimes.set(id, (selfTimes.get(id) ?? 0) + timeDeltas[index]));
  const [groups, functions] = [new Map(), new Map()];
  const add = (map, key, time) => map.set(key, (map.get(key) ?? 0) + time);
  let total = 0;
  for (const { id, callFrame } of nodes) {
    const { functionName, url, lineNumber } = callFrame;
    const time = selfTimes.get(id) ?? 0;
    if (time === 0 || (url === '' && NOT_COUNTED.has(functionName))) continue;
    total += time;
    const path = pathOf(url);
    add(groups, groupOf(path, functionName), time);
    add(
      functions,
      `${functionName || '(anonymous)'}  ${path === '' ? '' : `${path}:${lineNumber + 1}`}`,
      time,
    );
  }
  const table = (map, what, most) =>
    [...map]
      .sort(([, one], [, other]) => other - one)
      .slice(0, most)
      .map(([name, time]) => ({
        us_a_call: Number(((cpuUs * time) / total).toFixed(1)),
        percent: Number(((100 * time) / total).toFixed(1)),
        [what]: name,
      }));
  return {
    groups: table(groups, 'group', MOST_GROUPS),
    functions: table(functions, 'function', MOST_FUNCTIONS),
  };
}

/** `pg/lib/client.js`, `src/work/claims.service.js`, `node:net`; empty for what V8 and Node have built in. */
function pathOf(url) {
  if (url.includes('/node_modules/')) return url.split('/node_modules/').at(-1);
  return url.split('/dist/').at(-1);
}

/** A package, a folder of `src`, a module of Node. */
function groupOf(path, functionName) {
  if (path === '') return functionName.startsWith('(') ? functionName : 'built in';
  const [first, second] = path.split('/');
  return second !== undefined && /^(src$|@|node:internal$)/.test(first) ? `${first}/${second}` : first;
}
