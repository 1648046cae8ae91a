import { button, element, facts, isInert, setInert } from './elements.js';
import { code, foreign } from './foreign-text.js';
import { folded } from './folded.js';
import { within } from './json-text.js';
import { get, path, post, Refused } from './session.js';
import { toolName } from './task-row.js';
import { effectFacts, moment, runLink, targetName, taskLink } from './words.js';

const WORDS = {
  approve: { title: 'Approve this call?', confirm: 'Approve this call', kind: 'primary' },
  deny: { title: 'Deny this call?', confirm: 'Deny this call', kind: 'danger' },
};

/** Who decides should see the input: it is folded only where nobody would read all of it. */
const INPUT_SHORT = 20_000;

/** What a person decides about. Where one of these changes, it is another question. */
const QUESTION = [
  'generation',
  'tool_name',
  'tool_alias',
  'tool_input',
  'effect_profile',
  'target',
  'deadline_at',
];

/**
 * The second step of a decision (chapter 6, Adjudication): shows what would be done, where and to what effect, and decides on
 * confirmation. The task is read again first; where it rests with something else by now, that is shown instead, and nothing
 * is decided. `text` is the task as JSON; `onDecided` gets it as the server left it.
 */
export function decide(view, { text, verdict, say, onDecided, onClose }) {
  const { title, confirm: confirmation, kind } = WORDS[verdict];
  let shown = text;
  const about = element('div');
  const fault = element('p', { class: 'alert', role: 'alert' });
  const reason = element('textarea', { id: 'reason', rows: '3', maxlength: '1024' });
  const heading = element('h2', { id: 'decision-title', tabindex: '-1' }, title);
  const dialog = element('dialog', { 'aria-labelledby': 'decision-title' });
  const cancel = button('Cancel', () => dialog.close());
  const confirm = button(confirmation, () => isInert(confirm) || void decideNow(), { class: kind });

  async function decideNow() {
    setInert(confirm, true);
    fault.textContent = '';
    const { run_public_id: runId, task_key: key } = JSON.parse(shown);
    const where = path`/platform_api/v1/runs/${runId}/tasks/${key}`;
    try {
      const now = within((await get(where)).text, 'task');
      if (JSON.parse(now).status === 'needs_approval' && !isSameQuestion(shown, now)) {
        show(now);
        fault.textContent =
          'The call has changed since you looked. This is what rests now; nothing was decided.';
        return setInert(confirm, false);
      }
      const body = verdict === 'deny' && reason.value.trim() !== '' ? { reason: reason.value } : {};
      const decided = within((await post(`${where}/${verdict}`, body)).text, 'task');
      dialog.close();
      say(...outcomeWords(verdict, JSON.parse(decided)));
      onDecided?.(decided);
    } catch (problem) {
      refuse(problem);
    }
  }

  function refuse(problem) {
    const isFinal = problem instanceof Refused && problem.status < 500 && problem.status !== 429;
    fault.textContent = isFinal
      ? `Nothing was decided: ${problem.message} (${problem.code})`
      : `${problem.message} Whether the decision was taken is not known: look at the task before you try again.`;
    if (isFinal) {
      confirm.remove();
      cancel.textContent = 'Close';
      cancel.focus();
    } else {
      setInert(confirm, false);
    }
  }

  function show(next) {
    shown = next;
    about.replaceChildren(...question(next));
  }

  show(text);
  dialog.append(heading, about);
  if (verdict === 'deny') {
    dialog.append(element('label', { for: 'reason' }, 'Reason (optional; the agent is told)'), reason);
  }
  dialog.append(fault, element('p', { class: 'bar' }, cancel, confirm));
  dialog.addEventListener('close', () => {
    dialog.remove();
    onClose?.();
  });
  view.append(dialog);
  dialog.showModal();
  heading.focus();
}

/** Target, served name, alias, effect and input: everything that the call is. */
function question(text) {
  const task = JSON.parse(text);
  const input = folded('Input', INPUT_SHORT);
  input.set(within(text, 'tool_input'));
  return [
    facts([
      [
        'Target',
        [targetName(task), task.target && element('small', {}, code(task.target.executor_public_id))],
      ],
      ['Served tool', foreign(task.tool_name)],
      ['Called as', task.tool_alias === undefined ? undefined : foreign(task.tool_alias)],
      ['Task', [taskLink(task), ' of run ', runLink(task.run_public_id)]],
      ['Rests until', moment(task.deadline_at)],
    ]),
    element('h3', {}, 'Effect'),
    effectFacts(task.effect_profile),
    input.element,
  ];
}

const isSameQuestion = (one, other) => QUESTION.every((field) => within(one, field) === within(other, field));

function outcomeWords(verdict, task) {
  const call = [...toolName(task), ' on ', targetName(task)];
  if (verdict === 'deny') return ['Denied: ', ...call, '.'];
  if (task.status === 'needs_approval') {
    return ['Not delivered: ', ...call, ' rests again, since what the target announces has changed.'];
  }
  if (task.error) return ['Approved, and failed at once: ', ...call, ` (${task.error.key}).`];
  return ['Approved: ', ...call, ' is on its way. ', taskLink(task, 'Look at the task')];
}
