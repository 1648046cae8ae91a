import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One JSON request; throws on a refusal. */
export async function askJson(url, method, path, body, token) {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** An agent of a fresh Nexus, what its credential says of the bus, and how to register runners for it. */
export async function provision(url, home) {
  const platformToken = readFileSync(join(home, 'platform.secret'), 'utf8').trim();
  const ask = (method, path, body) => askJson(url, method, path, body, platformToken);
  const { humans } = await ask('GET', '/platform_api/v1/humans');
  const manager = humans[0].public_id;
  const { agent } = await ask('POST', '/platform_api/v1/agents', {
    display_name: 'Bench',
    steward_public_id: manager,
    approval_floor: 'bypass',
  });
  const credentials = `/platform_api/v1/members/${agent.public_id}/credentials`;
  const { secret: agentToken, bus } = await ask('POST', credentials, { name: 'bench' });
  return {
    ask,
    manager,
    agentToken,
    platformToken,
    bus,
    /** A runner that the whole account may address; answers its registration. */
    registerRunner: (name) =>
      ask('POST', '/platform_api/v1/executors', {
        kind: 'runner',
        display_name: name,
        manager_public_id: manager,
        registration_identifier: name,
        assignment_scope: 'account_wide',
      }),
    /** A run of the agent whose default runner this is; answers its public id. */
    async createRun(runnerId) {
      const body = {
        default_runner_executor_public_id: runnerId,
        configuration: { runner_executor_public_ids: [runnerId] },
      };
      const { run } = await askJson(url, 'POST', '/agent_api/v1/runs', body, agentToken);
      return run.public_id;
    },
  };
}
