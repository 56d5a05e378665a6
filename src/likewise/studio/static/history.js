/* All that was answered and done, newest first; any of it can be taken back. */
import { message } from './answering.js';
import { image } from './cards.js';
import { button, fill, h } from './dom.js';
import { ago, capital } from './words.js';

const PAGE = 50;

export function historyScreen(studio) {
  const list = h('ol', { class: 'events' });
  const more = h('div', { class: 'row' });
  const element = h(
    'div',
    { class: 'screen history' },
    h('h1', {}, 'History'),
    h('p', { class: 'soft lede' }, 'Nothing is ever erased: taking something back is an event too.'),
    list,
    more,
  );
  let next = null;

  async function load(before = null) {
    try {
      const query = before === null ? '' : `&before=${encodeURIComponent(before)}`;
      const answer = await studio.transport.get(`/api/history?limit=${PAGE}${query}`);
      const items = answer.events.map(item);
      if (before === null) fill(list, items);
      else list.append(...items);
      next = answer.next ?? null;
      fill(more, next !== null && button('Earlier', { onclick: () => load(next) }));
      if (before === null && !items.length)
        fill(more, message('Nothing happened yet', 'Your answers will be listed here.'));
    } catch (error) {
      fill(
        more,
        message(
          'The history could not be fetched',
          error.message,
          button('Try again', { onclick: () => load() }),
        ),
      );
    }
  }

  function item(event) {
    const canUndo = event.can_undo;
    return h(
      'li',
      { class: event.undone ? 'undone' : '', 'data-event': event.id },
      h('span', { class: `tag ${event.kind}` }, event.kind),
      h(
        'span',
        { class: 'summary' },
        h(
          'span',
          { 'aria-hidden': 'true' }, // the words name the rows
          event.pictures.map((path) => image(studio, path, '')),
        ),
        capital(event.summary),
        event.undone ? h('span', { class: 'soft' }, ' (taken back)') : '',
      ),
      h(
        'span',
        { class: 'soft' },
        event.by ? `${event.by} · ` : '',
        h('time', { datetime: event.at }, ago(event.at)),
      ),
      canUndo
        ? button('Undo', {
            kind: 'small',
            'aria-label': `Undo: ${event.summary}`,
            onclick: () => {
              studio.outbox.add({ kind: 'undo', undoes: event.id });
              studio.toast('Taken back.');
            },
          })
        : h('span', {}),
    );
  }

  return {
    name: 'history',
    title: 'History',
    element,
    show: () => load(),
    onSaved: () => load(),
  };
}
