/* Before and after the questions: a name, the instructions of a study, the code at its end. */
import { button, fill, h } from './dom.js';
import { plural } from './words.js';

/** Ask for a name, once; then go on. */
export function enterName(studio, onDone) {
  const { start, transport } = studio;
  const input = h('input', {
    id: 'name',
    type: 'text',
    maxlength: '40',
    required: true,
    autocomplete: 'nickname',
    spellcheck: 'false',
  });
  const reviewer = h('input', { type: 'checkbox', id: 'reviewer' });
  const error = h('p', { class: 'error', role: 'alert' });
  async function submit(event) {
    event.preventDefault();
    const name = input.value.trim();
    if (!name) {
      fill(error, 'Enter a name: any word that tells you from the others.');
      input.focus();
      return;
    }
    try {
      await transport.post('/api/name', { name, reviewer: reviewer.checked });
      onDone();
    } catch (failure) {
      fill(error, failure.message);
    }
  }
  queueMicrotask(() => input.focus());
  return h(
    'main',
    { class: 'entering' },
    h('h1', {}, start.data.title),
    h(
      'p',
      { class: 'soft' },
      `${plural(start.data.n_rows, 'row')}. You answer short questions; the clusters form from your answers. Each answer is saved on this machine before the page says so.`,
    ),
    h(
      'form',
      { onsubmit: submit },
      h('label', { for: 'name' }, 'Your name'),
      input,
      start.study ? null : h('label', { class: 'switch' }, reviewer, ' I settle what others disagree about'),
      error,
      h('button', { type: 'submit', class: 'button primary large' }, 'Start'),
    ),
    start.people?.length ? h('p', { class: 'soft' }, `Here already: ${start.people.join(', ')}.`) : null,
  );
}

/** The instructions of a study, paragraph by paragraph. */
export function instructions(studio, onBegin) {
  const { study } = studio.start;
  return h(
    'main',
    { class: 'entering' },
    h('h1', {}, 'Instructions'),
    study.instructions.split(/\n\s*\n/).map((paragraph) => h('p', { class: 'text' }, paragraph.trim())),
    h(
      'p',
      { class: 'soft' },
      `${plural(study.n_trials, 'question')}, one after another. You can undo the last answer by the key U.`,
    ),
    button('Begin', { kind: 'primary large', onclick: onBegin }),
  );
}

/** The end of a study: thanks, and the completion code. */
export function completion(studio) {
  const { code } = studio.start.study;
  const copy = button('Copy the code', {
    onclick: async () => {
      await navigator.clipboard?.writeText(code).catch(() => {});
      fill(copy, 'Copied');
    },
  });
  return h(
    'div',
    { class: 'message completion' },
    h('h2', {}, 'Thank you, that was all'),
    code
      ? [h('p', {}, 'Your completion code:'), h('p', { class: 'code' }, h('output', {}, code)), copy]
      : h('p', { class: 'soft' }, 'All your answers are saved. You can close this page.'),
  );
}
