/* Where answers contradict each other, look wrong, or differ between people. */
import { message } from './answering.js';
import { rowCard } from './cards.js';
import { button, fill, h } from './dom.js';
import { capital, percent, plural } from './words.js';

export function doubtsScreen(studio) {
  const place = h('div', {});
  const element = h('div', { class: 'screen doubts' }, h('h1', {}, 'Doubts'), place);
  let items = [],
    at = 0;

  async function load() {
    try {
      paint(await studio.transport.get('/api/doubts'));
    } catch (error) {
      fill(
        place,
        message('The doubts could not be fetched', error.message, button('Try again', { onclick: load })),
      );
    }
  }

  function paint(doubts) {
    const { conflicts = [], doubtful = [], disagreements = [], views = [], people = [], agreement = [] } = doubts;
    items = doubtful.map(doubtfulItem);
    at = Math.min(at, Math.max(0, items.length - 1));
    const isCalm = !conflicts.length && !doubtful.length && !disagreements.length;
    fill(
      place,
      isCalm && message('No doubts', 'No answers contradict each other, and none looks wrong.'),
      part(
        'Doubtful answers',
        doubtful,
        'What speaks against each answer is said beside it. Keep it, or flip it: one key each.',
        h(
          'ul',
          { class: 'doubt-list' },
          items.map((item) => item.element),
        ),
      ),
      part(
        'Contradictions',
        conflicts,
        'These answers cannot all be right. Taking one of them back resolves it.',
        h('ul', { class: 'doubt-list' }, conflicts.map(conflictItem)),
      ),
      part(
        'Disagreements',
        disagreements,
        studio.start.reviewer ? 'What you settle outweighs the votes.' : 'A reviewer can settle these.',
        h('ul', { class: 'doubt-list' }, disagreements.map(disagreementItem)),
      ),
      part(
        'Other views',
        views,
        'These people answer as if the clusters were others. That need not be wrong: ask them.',
        h('ul', { class: 'doubt-list' }, views.map(viewItem)),
      ),
      people.length > 0 && peopleTable(people),
      agreement.length > 0 && agreementTable(agreement),
    );
    paintFocus();
  }

  function part(title, list, words, content) {
    return (
      list.length > 0 &&
      h('section', {}, h('h2', {}, `${title} (${list.length})`), h('p', { class: 'soft' }, words), content)
    );
  }

  function cardsOf({ rows, cards, differs, given_row: given, flipped_row: instead }) {
    const isPlaced = typeof given === 'number' || typeof instead === 'number'; // beside a group
    const roles = isPlaced ? { [rows[0]]: 'Asked about', [given]: 'The answer', [instead]: 'Others say' } : {};
    const first = isPlaced ? [rows[0], given, instead] : [];
    const order = [...new Set([...first, ...rows, ...Object.keys(cards).map(Number)])];
    const shown = order.map((row) => cards[row]).filter(Boolean);
    return shown.length
      ? h(
          'div',
          { class: 'strip-cards' },
          shown.map((card) =>
            h(
              'div',
              { class: `card ${roles[card.row] ? 'meant' : ''}` },
              roles[card.row] && h('p', { class: 'role' }, roles[card.row]),
              rowCard(studio, card, { beside: shown, differs, isSmall: true, isNamed: true, size: 96 }),
            ),
          ),
        )
      : null;
  }

  function conflictItem(conflict) {
    return h(
      'li',
      { class: 'doubt' },
      h('p', {}, conflict.message),
      h(
        'ul',
        { class: 'path' },
        conflict.answers.map((answer) =>
          h(
            'li',
            {},
            h('span', {}, `About ${rowsLabel(answer.rows)}${answer.by ? `, by ${answer.by}` : ''}`),
            button('Undo', {
              kind: 'small',
              'aria-label': `Undo the answer about ${rowsLabel(answer.rows)}`,
              onclick: () => tell({ kind: 'undo', undoes: answer.event }, 'Taken back.'),
            }),
          ),
        ),
      ),
    );
  }

  function doubtfulItem(doubt) {
    const decide = (kind) => {
      tell({ kind, answer: doubt.event }, kind === 'keep' ? 'Kept as it is.' : 'Flipped.');
      item.element.classList.add('decided');
      item.element.querySelectorAll('button').forEach((b) => {
        b.disabled = true;
      });
      item.isDone = true;
      step(1);
    };
    const canFlip = doubt.flipped !== null;
    const item = {
      isDone: false,
      decide: (kind) => {
        if (!item.isDone && (kind === 'keep' || canFlip)) decide(kind);
      },
      element: h(
        'li',
        {
          class: 'doubt doubtful',
          tabindex: '-1',
          onfocusin: () => {
            at = items.indexOf(item);
            paintFocus();
          },
        },
        h(
          'p',
          {},
          h('strong', {}, doubt.question),
          ' ',
          h('span', { class: 'given' }, doubt.choice),
          doubt.by && h('span', { class: 'soft' }, ` said ${doubt.by}`),
        ),
        cardsOf(doubt),
        h(
          'p',
          { class: 'soft' },
          `${capital(doubt.against)}. Chance that it is right: ${percent(doubt.chance)}.`,
        ),
        h(
          'div',
          { class: 'row' },
          button('Keep', { key: 'k', kind: 'small', onclick: () => item.decide('keep') }),
          canFlip &&
            button(`Flip to: ${doubt.flipped}`, {
              key: 'f',
              kind: 'small',
              onclick: () => item.decide('flip'),
            }),
        ),
      ),
    };
    return item;
  }

  function disagreementItem(item) {
    const said = new Map(item.votes.map((vote) => [JSON.stringify(vote.choice), vote]));
    const settle = ({ choice, label }) =>
      button(capital(label), {
        kind: 'small',
        onclick: () =>
          tell({ kind: 'settle', rows: item.rows, question_kind: item.kind, choice }, 'Settled.'),
      });
    return h(
      'li',
      { class: 'doubt' },
      h('p', {}, h('strong', {}, item.question)),
      cardsOf(item),
      h('p', {}, item.votes.map((vote) => `${vote.by}: ${vote.label}`).join(' · ')),
      item.settled && h('p', { class: 'soft' }, `Settled by a reviewer: ${item.settled_as}.`),
      !item.settled && studio.start.reviewer && h('div', { class: 'row' }, [...said.values()].map(settle)),
    );
  }

  function viewItem({ by, kind, clusters, cards, n }) {
    const seen = kind === 'merges' ? `${clusters.join(' and ')} as one` : `${clusters[0]} as two clusters`;
    return h(
      'li',
      { class: 'doubt' },
      h('p', {}, h('strong', {}, by || 'Somebody'), ` sees ${seen} (${plural(n, 'answer')} say so).`),
      cardsOf({ rows: [], cards: Object.fromEntries(cards.map((card) => [card.row, card])) }),
    );
  }

  function tell(event, words) {
    studio.outbox.add(event);
    studio.toast(words);
  }

  function paintFocus() {
    items.forEach((item, i) => item.element.classList.toggle('current', i === at));
  }

  function step(by) {
    at = Math.min(items.length - 1, Math.max(0, at + by));
    paintFocus();
    items[at]?.element.focus();
    items[at]?.element.scrollIntoView({ block: 'nearest' });
  }

  return {
    name: 'doubts',
    title: 'Doubts',
    element,
    show: load,
    onSaved: (events) => {
      if (events.every(({ kind }) => kind !== 'keep' && kind !== 'flip')) load();
    },
    key(event) {
      if (!items.length) return false;
      if (event.key === 'ArrowDown') step(1);
      else if (event.key === 'ArrowUp') step(-1);
      else if (event.key === 'k') items[at].decide('keep');
      else if (event.key === 'f') items[at].decide('flip');
      else return false;
      return true;
    },
  };
}

function rowsLabel(rows) {
  return `${rows.length === 1 ? 'row' : 'rows'} ${rows.join(', ')}`;
}

function peopleTable(people) {
  return table(
    'People',
    ['Name', 'Answers', 'Reliability', 'Same answer again', 'Median time', 'Under 0.3 s'],
    people.map((person) => [
      person.name || 'somebody',
      person.n,
      percent(person.reliability),
      percent(person.consistency),
      person.median_seconds === null || person.median_seconds === undefined
        ? '–'
        : `${person.median_seconds.toFixed(1)} s`,
      person.n_hasty ?? '–',
    ]),
  );
}

function agreementTable(agreement) {
  return table(
    'Who agrees with whom',
    ['', 'and', 'Agree', 'On'],
    agreement.map(([a, b, share, n]) => [a, b, percent(share), plural(n, 'question')]),
  );
}

function table(title, heads, rows) {
  return h(
    'section',
    {},
    h('h2', {}, title),
    h(
      'div',
      { class: 'table', tabindex: '0', role: 'region', 'aria-label': title },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            heads.map((head) => h('th', { scope: 'col' }, head)),
          ),
        ),
        h(
          'tbody',
          {},
          rows.map(([first, ...rest]) =>
            h(
              'tr',
              {},
              h('th', { scope: 'row' }, first),
              rest.map((cell) => h('td', {}, cell)),
            ),
          ),
        ),
      ),
    ),
  );
}
