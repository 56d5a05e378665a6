/* One question on the screen, of any kind, and the keys that answer it. */
import { enlargeAll, rowCard, rowName } from './cards.js';
import { button, fill, h } from './dom.js';
import { capital } from './words.js';

const CANT_TELL = 'cant_tell';
const NUMBERED_LABELS = { odd_one_out: 'This one', group: 'Here', grid: 'Belongs' };

/**
 * The question as an element, with key(event) that returns whether the key was an answer.
 * choose(choice) is called once, with the answer.
 */
export function questionView(studio, question, choose) {
  const heading = h('h1', { tabindex: '-1', class: 'prompt' }, question.prompt);
  const view = VIEWS[question.kind](studio, question, choose);
  const plain = question.answers.filter(
    (answer) => typeof answer.choice === 'string' && answer.choice !== CANT_TELL,
  );
  const buttons = plain.map((answer) =>
    button(capital(answer.label), {
      key: answer.key,
      kind: view.hasCards ? 'large' : 'large primary',
      'data-choice': answer.choice,
      onclick: () => choose(answer.choice),
    }),
  );
  const element = h(
    'section',
    { class: `question ${question.kind}`, 'data-question': question.id, 'aria-label': 'Question' },
    h(
      'div',
      { class: 'asked' },
      heading,
      question.why && !studio.start.study && h('p', { class: 'why' }, `Asked because: ${question.why}${question.why.endsWith('?') ? '' : '.'}`),
    ),
    view.element,
    h('div', { class: 'answers', role: 'group', 'aria-label': 'Answers' }, view.buttons ?? [], buttons),
  );
  const byKey = new Map(question.answers.map((answer) => [answer.key, answer]));
  return {
    element,
    heading,
    key(event) {
      if (view.key?.(event)) return true;
      const answer = byKey.get(event.key.toLowerCase());
      if (event.key === 'z') {
        enlargeAll(studio, view.cards);
        return true;
      }
      if (!answer || (view.toggles && typeof answer.choice === 'number')) return false;
      choose(answer.choice);
      return true;
    },
    cantTell: question.answers.find((answer) => answer.choice === CANT_TELL) ?? null,
  };
}

const VIEWS = {
  pair: twoCards,
  review: twoCards,
  odd_one_out: threeCards,
  group: groupCards,
  grid: gridCards,
};

function cardsOf(question, rows) {
  return rows.map((row) => question.cards[row]);
}

function twoCards(studio, question) {
  const cards = cardsOf(question, question.rows);
  const shown = cards.map((card) =>
    h('div', { class: 'card' }, rowCard(studio, card, { beside: cards, differs: question.differs })),
  );
  return { element: h('div', { class: `cards n-${cards.length}` }, shown), cards };
}

function numbered(question) {
  return question.answers.filter((answer) => typeof answer.choice === 'number');
}

/** A card that is an answer: all of it can be clicked, and its button has the key. */
function choiceCard(question, answer, card, content, onclick) {
  const label = NUMBERED_LABELS[question.kind];
  return h(
    'div',
    { class: 'card choice' },
    content,
    button(label, {
      key: answer.key,
      kind: 'pick',
      'data-choice': answer.choice,
      onclick,
      'aria-label': `${answer.key} ${label}: ${rowName(card)}`,
    }),
  );
}

function threeCards(studio, question, choose) {
  const cards = cardsOf(question, question.rows);
  const shown = numbered(question).map((answer) =>
    choiceCard(
      question,
      answer,
      cards[answer.choice],
      rowCard(studio, cards[answer.choice], { beside: cards, differs: question.differs }),
      () => choose(answer.choice),
    ),
  );
  return { element: h('div', { class: 'cards n-3' }, shown), cards, hasCards: true };
}

function groupCards(studio, question, choose) {
  const [subject] = cardsOf(question, question.rows);
  const representatives = question.groups.map((group) => question.cards[group[0]]);
  const options = { beside: [subject], differs: question.differs };
  const shown = numbered(question).map((answer) => {
    const [first, ...further] = cardsOf(question, question.groups[answer.choice]).filter(Boolean);
    const content = [
      rowCard(studio, first, { ...options, isSmall: true }),
      further.length ? moreOfGroup(studio, further, options) : null,
    ];
    return choiceCard(question, answer, first, content, () => choose(answer.choice));
  });
  const element = h(
    'div',
    { class: 'beside' },
    h(
      'div',
      { class: 'card subject' },
      rowCard(studio, subject, { beside: representatives, differs: question.differs }),
    ),
    h('div', { class: `choices n-${shown.length}` }, shown),
  );
  return { element, cards: [subject, ...representatives], hasCards: true };
}

/** Further rows of a group, shown when asked for. */
function moreOfGroup(studio, cards, options) {
  const place = h('div', { class: 'further', hidden: true });
  const more = button(`+${cards.length}`, {
    kind: 'quiet more',
    'aria-label': `Show ${cards.length} more of this group`,
    onclick: (event) => {
      event.stopPropagation();
      place.hidden = false;
      fill(
        place,
        cards.map((card) => rowCard(studio, card, { ...options, size: 96, isSmall: true })),
      );
      more.remove();
    },
  });
  return [place, more];
}

function gridCards(studio, question, choose) {
  const [subject, ...others] = cardsOf(question, question.rows);
  const chosen = new Set();
  const send = () => choose([...chosen].sort((a, b) => a - b));
  const done = button('', { key: 'Enter', kind: 'large primary', 'data-choice': 'send', onclick: send });
  const cards = new Map();
  function paint() {
    for (const [choice, card] of cards) {
      card.classList.toggle('chosen', chosen.has(choice));
      card.querySelector('.pick').setAttribute('aria-pressed', String(chosen.has(choice)));
    }
    done.lastChild.textContent = chosen.size ? `These ${chosen.size} belong with it` : 'None belongs with it';
  }
  function toggle(choice) {
    if (!chosen.delete(choice)) chosen.add(choice);
    paint();
  }
  for (const answer of numbered(question)) {
    const content = rowCard(studio, others[answer.choice], {
      beside: [subject],
      differs: question.differs,
      isSmall: true,
    });
    cards.set(
      answer.choice,
      choiceCard(question, answer, others[answer.choice], content, () => toggle(answer.choice)),
    );
  }
  paint();
  const byKey = new Map(numbered(question).map((answer) => [answer.key, answer.choice]));
  const element = h(
    'div',
    { class: 'beside' },
    h(
      'div',
      { class: 'card subject' },
      rowCard(studio, subject, { beside: others, differs: question.differs }),
    ),
    h('div', { class: `choices n-${cards.size}` }, [...cards.values()]),
  );
  return {
    element,
    buttons: [done],
    cards: [subject, ...others],
    hasCards: true,
    toggles: true,
    key(event) {
      const onPick = event.target.closest?.('.pick');
      if (event.key === 'Enter' && (onPick || !event.target.closest?.('button, a'))) {
        send();
        return true;
      }
      if (!byKey.has(event.key)) return false;
      toggle(byKey.get(event.key));
      return true;
    },
  };
}
