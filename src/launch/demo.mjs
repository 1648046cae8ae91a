/** `npm run demo`: plays the whole story against the Nexus that runs from NEXUS_HOME, and prints each step. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

async function openStory(home) {
  const text = await readFile(join(home, 'ready.json'), 'utf8').catch(() => {
    throw new Error(`no Nexus runs from ${home}: run npm start in another terminal`);
  });
  const { http_url: url, local } = JSON.parse(text);
  const secretOf = async (file) => (await readFile(file, 'utf8')).trim();
  if (!local.runner_executor_public_id) throw new Error('this Nexus was started without its local runner');
  return {
    agent: new Member(url, await secretOf(local.agent_secret_file)),
    human: new Member(url, await secretOf(local.human_secret_file)),
    runnerId: local.runner_executor_public_id,
  };
}
async function tell({ agent, human, runnerId }) {
  const file = `demo-${Date.now().toString(36)}.txt`;
  say('The agent discovers whom it may address');
  const { executors } = await agent.ask('GET', '/executors?kind=runner&view=summary');
  for (const row of executors) show(`${row.display_name} (${row.presence}): ${namesOf(row.served_tools)}`);
  say('It opens a conversation, and a run that freezes the runner’s exact schemas');
  const target = {
    default_runner_executor_public_id: runnerId,
  };
  const { conversation } = await agent.ask('POST', '/conversations', target);
  const of = conversation.public_id;
  const { run } = await agent.ask('POST', '/runs', {
    ...target,
    conversation_public_id: of,
    approval_mode: 'ask',
  });
  show(`callables: ${run.tool_definitions.map((definition) => definition.function.name).join(', ')}`);
  say('It looks around: a read needs nobody’s consent');
  show(
    (
      await call(agent, run.public_id, 'look', 'ls', {
        path: '.',
      })
    ).content,
  );
  say('It wants to write a file. That rests until a person decides');
  const first = {
    path: file,
    content: 'What the agent wrote first\n',
  };
  show(`status: ${await heldCall(agent, run.public_id, 'first', first)}`);
  say('The person sees what would be touched, where and how, and approves');
  const { tasks: held } = await human.ask('GET', '/approvals');
  for (const task of held.filter(({ run_public_id }) => run_public_id === run.public_id)) {
    show(`${task.tool_alias} at ${task.target.display_name}: ${JSON.stringify(task.tool_input)}`);
  }
  show(`status: ${(await approve(human, agent, run.public_id, 'first')).status}`);
  say('A second run of the conversation overwrites the file, approved as well');
  const second = await agent.ask('POST', '/runs', {
    ...target,
    conversation_public_id: of,
    approval_mode: 'ask',
  });
  const later = second.run.public_id;
  await heldCall(agent, later, 'second', {
    path: file,
    content: 'What the agent wrote over it\n',
  });
  await approve(human, agent, later, 'second');
  show(
    (
      await call(agent, later, 'reread', 'read', {
        path: file,
      })
    ).content,
  );
  say('The evidence: which runners that run may have touched, and from when on');
  const { runner_effects: effects } = await agent.ask(
    'GET',
    `/conversations/${of}/runner_effects?from_run=${later}`,
  );
  show(`${effects.status}: ${effects.runners.map(({ task_key }) => task_key).join(', ')}`);

  say('A rewind: the runner puts back what it kept before that write');
  const rewind = { from_run_public_id: later };
  let { restoration } = await human.ask('POST', `/conversations/${of}/restorations`, rewind);
  while (restoration.status === 'running') {
    await new Promise((done) => setTimeout(done, 200));
    const path = `/conversations/${of}/restorations/${restoration.public_id}`;
    ({ restoration } = await human.ask('GET', path));
  }
  show(`${restoration.status}: ${restoration.targets.map(({ status }) => status).join(', ')}`);

  say('The file is as it was before');
  show((await call(agent, later, 'again', 'read', { path: file })).content);
}
async function call(member, run, key, name, input) {
  await member.ask('POST', `/runs/${run}/tasks`, {
    steps: [
      {
        call: {
          name,
          key,
          input,
        },
      },
    ],
  });
  return (await member.ask('GET', `/runs/${run}/tasks/${key}?wait_ms=20000`)).task;
}
/** Accepts a write, which rests. */ async function heldCall(agent, run, key, input) {
  const steps = [
    {
      call: {
        name: 'write',
        key,
        input,
      },
    },
  ];
  return (
    await agent.ask('POST', `/runs/${run}/tasks`, {
      steps,
    })
  ).tasks[0].status;
}
async function approve(human, agent, run, key) {
  await human.ask('POST', `/runs/${run}/tasks/${key}/approve`, {});
  return (await agent.ask('GET', `/runs/${run}/tasks/${key}?wait_ms=20000`)).task;
}
/** One member of the account, over REST. */ class Member {
  url;
  secret;
  constructor(url, secret) {
    this.url = url;
    this.secret = secret;
  }
  /** One request; throws on a refusal. */ async ask(method, path, body) {
    const answer = await fetch(`${this.url}/agent_api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.secret}`,
        'content-type': 'application/json',
      },
      ...(body
        ? {
            body: JSON.stringify(body),
          }
        : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  }
}
const namesOf = (tools) => tools.map(({ name }) => name).join(', ');
let step = 0;
function say(title) {
  process.stdout.write(`\n${(step += 1)}. ${title}\n`);
}
function show(text) {
  process.stdout.write(`${text.trimEnd().replace(/^/gm, '     ')}\n`);
}

try {
  await tell(await openStory(resolve(process.env.NEXUS_HOME || '.nexus')));
} catch (fault) {
  process.stderr.write(`nexus: ${fault.message}\n`);
  process.exitCode = 1;
}
