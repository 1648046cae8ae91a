/**
 * The local agent, its steward's credential and the local runner, made once through the Platform API. Every step is kept in
 * the home as soon as it is done, so that a start that was cut short goes on where it stopped.
 */

/** @param {import('./home.mjs').Home} home */
export async function provision(home, url, { withRunner, isManaged }) {
  const platform = home.read('platform.secret');
  if (platform === undefined) {
    throw new Error(
      `${home.path('platform.secret')} is missing, and the database is not empty: its first start was elsewhere. ` +
        'Put a platform secret of your account into that file (mode 0600) and start again.',
    );
  }
  const ask = (method, path, body, token = platform) => askNexus(url, method, path, { body, token });
  const local = home.readJson('local.json') ?? {};
  const keep = (fields) => home.writeJson('local.json', Object.assign(local, fields));

  if (local.human_public_id === undefined) {
    const { humans } = await ask('GET', '/platform_api/v1/humans');
    keep({ human_public_id: humans.find(({ role }) => role === 'admin').public_id });
  }
  if (local.agent_public_id === undefined) {
    const body = { display_name: 'Local agent', steward_public_id: local.human_public_id };
    keep({ agent_public_id: (await ask('POST', '/platform_api/v1/agents', body)).agent.public_id });
  }
  for (const member of ['human', 'agent']) {
    if (home.read(`${member}.secret`) !== undefined) continue;
    const path = `/platform_api/v1/members/${local[`${member}_public_id`]}/credentials`;
    home.write(`${member}.secret`, (await ask('POST', path, { name: 'local' })).secret);
  }
  if (!withRunner) return { runnerId: home.readJson('runner.registration.json')?.executor.public_id };

  // one of the other mode has the other kind of proof
  const known = home.readJson('runner.registration.json');
  if (known === undefined || (known.bus.credentials !== null) !== isManaged) {
    const registration = await ask('POST', '/platform_api/v1/executors', {
      kind: 'runner',
      display_name: 'Local runner',
      manager_public_id: local.human_public_id,
      registration_identifier: 'local',
      assignment_scope: 'account_wide',
    });
    home.writeJson('runner.registration.json', registration);
  }
  const runnerId = home.readJson('runner.registration.json').executor.public_id;
  if (local.profile_of !== runnerId) {
    const configuration = { runner_executor_public_ids: [runnerId] };
    await ask('PUT', '/agent_api/v1/profile/configuration', configuration, home.read('agent.secret'));
    keep({ profile_of: runnerId });
  }
  return { runnerId };
}

/** When the runner last announced what it serves; null when it never did. */
export async function announcedAt(home, url, runnerId) {
  const path = `/agent_api/v1/executors/${runnerId}`;
  const { executor } = await askNexus(url, 'GET', path, { token: home.read('agent.secret') });
  return executor.announced_at;
}

async function askNexus(url, method, path, { body, token }) {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await answer.text();
  if (answer.status === 401) {
    throw new Error(
      `${method} ${path} answered 401: the secrets in NEXUS_HOME are not of this database. ` +
        'Use the DATABASE_URL that they were made with, or another NEXUS_HOME.',
    );
  }
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
