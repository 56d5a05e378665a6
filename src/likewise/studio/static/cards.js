/* Row cards: a picture, a text or the cells of a table, what differs first. */
import { button, fill, h, icon, openDialog } from './dom.js';
import { capital } from './words.js';

const MOST_CELLS = 7;
const LONG_TEXT = 420; // characters
const PHONE = '(max-width: 46rem)';
const SMALL_PICTURE = 64; // pixels: drawn with sharp edges, as the digits are
const ENLARGE = 'M8.5 3a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M12.6 12.6L17 17M6 8.5h5M8.5 6v5';

/** The words that stand for a row: its title, or its id. */
export function rowName(card) {
  return card.title || capital(card.id);
}

/**
 * The card of a row.
 * beside: the cards that it is compared with; cells unlike all of theirs are marked (of numbers,
 * those that differ by more than a standard deviation).
 * differs: columns to put first. size: pixels of the picture. isSmall: fewer cells, no zoom. isNamed: with its name below.
 */
export function rowCard(
  studio,
  card,
  { beside = [], differs = [], size = 256, isSmall = false, isNamed = false } = {},
) {
  const parts = [];
  if (card.image) parts.push(picture(studio, card, size, isSmall));
  if (card.title || !card.image || isNamed) parts.push(h('p', { class: 'row-name' }, rowName(card)));
  if (card.text) parts.push(longText(card.text, isSmall));
  if (card.cells?.length && !(card.image && isSmall)) {
    const spreads = studio.start?.data.spreads ?? {};
    parts.push(cells(card, { beside, differs, spreads, isSmall }));
  }
  return h('div', { class: `row-card ${isSmall ? 'small' : ''}`, 'data-row': card.row }, parts);
}

/** A picture at an address that may come later. */
export function image(studio, path, description) {
  const img = h('img', { alt: description, draggable: 'false', decoding: 'async' });
  img.addEventListener('load', () => {
    img.classList.toggle('pixels', Math.max(img.naturalWidth, img.naturalHeight) <= SMALL_PICTURE);
  });
  Promise.resolve(studio.transport.picture(path)).then((address) => {
    img.src = address;
  });
  return img;
}

export function atSize(path, size) {
  return path.replace(/size=\d+/, `size=${size}`);
}

function picture(studio, card, size, isSmall) {
  const frame = h('div', { class: 'picture' }, image(studio, atSize(card.image, size), rowName(card)));
  if (!isSmall) {
    frame.append(
      h(
        'button',
        {
          type: 'button',
          class: 'enlarge',
          'aria-label': `Enlarge ${rowName(card)}`,
          title: 'Enlarge',
          onclick: (event) => {
            event.stopPropagation();
            enlarge(studio, card);
          },
        },
        icon(ENLARGE),
      ),
    );
  }
  return frame;
}

/** A row in a dialog: its picture as large as the window allows, and all its cells. */
export function enlarge(studio, card) {
  openDialog(
    studio.root,
    rowName(card),
    [
      card.image &&
        h('div', { class: 'picture large' }, image(studio, atSize(card.image, 1024), rowName(card))),
      card.text && h('p', { class: 'text' }, card.text),
      card.cells?.length
        ? h(
            'dl',
            { class: 'cells' },
            card.cells.map((cell) => cellOf(cell, false)),
          )
        : null,
    ],
    { wide: true },
  );
}

/** Several rows beside each other in a dialog. */
export function enlargeAll(studio, cardList) {
  const cards = cardList.map((card) => rowCard(studio, card, { beside: cardList, size: 1024 }));
  openDialog(studio.root, 'A closer look', h('div', { class: 'cards' }, cards), { wide: true });
}

function longText(text, isSmall) {
  const limit = isSmall ? LONG_TEXT / 3 : matchMedia(PHONE).matches ? LONG_TEXT / 2 : LONG_TEXT;
  if (text.length <= limit * 1.2) return h('p', { class: 'text' }, text);
  const paragraph = h('p', { class: 'text' }, `${text.slice(0, limit)}…`);
  const toggle = button('Show all', {
    kind: 'link',
    'aria-expanded': 'false',
    onclick: (event) => {
      event.stopPropagation();
      const isOpen = toggle.getAttribute('aria-expanded') === 'true';
      toggle.setAttribute('aria-expanded', String(!isOpen));
      fill(toggle, isOpen ? 'Show all' : 'Show less');
      fill(paragraph, isOpen ? `${text.slice(0, limit)}…` : text);
    },
  });
  return [paragraph, toggle];
}

/** Cells in the order to read them: the columns that differ most first. */
export function orderCells(cellList, differs) {
  const rank = new Map(differs.map((column, i) => [column, i]));
  const at = (cell) => rank.get(cell[0]) ?? differs.length;
  return cellList
    .map((cell, i) => [cell, i])
    .sort((a, b) => at(a[0]) - at(b[0]) || a[1] - b[1])
    .map(([cell]) => cell);
}

function cells(card, { beside, differs, spreads, isSmall }) {
  const others = beside.filter((other) => other.row !== card.row).map((other) => new Map(other.cells));
  const isAlone = card.cells.length === 1; // all of it differs, which says nothing
  const isUnlike = ([column, text]) =>
    !isAlone &&
    others.length > 0 &&
    others.every((other) => areUnlike(text, other.get(column), spreads[column]));
  const ordered = orderCells(card.cells, differs);
  const most = isSmall ? 4 : MOST_CELLS;
  const list = h(
    'dl',
    { class: 'cells' },
    ordered.slice(0, most).map((cell) => cellOf(cell, isUnlike(cell))),
  );
  if (ordered.length <= most + 1) {
    list.append(...ordered.slice(most).map((cell) => cellOf(cell, isUnlike(cell))));
    return list;
  }
  const rest = button(`All ${ordered.length} columns`, {
    kind: 'link',
    onclick: (event) => {
      event.stopPropagation();
      list.append(...ordered.slice(most).map((cell) => cellOf(cell, isUnlike(cell))));
      rest.remove();
    },
  });
  return isSmall ? list : [list, rest];
}

/** Numbers are unlike where they differ by more than is usual, other cells where they are not the same. */
function areUnlike(text, other, spread) {
  if (text === other || other === undefined) return false;
  const difference = Math.abs(Number(text) - Number(other));
  return text === '' || other === '' || !(difference <= spread);
}

function cellOf([column, text], isMarked) {
  const value = text === '' ? '–' : text;
  const name = column.split(/(?<=[_.-])/).flatMap((part) => [part, h('wbr')]); // where a long name may break
  return h('div', {}, h('dt', {}, name), h('dd', {}, isMarked ? h('mark', {}, value) : value));
}

/** Fetch and decode the pictures of a question before it is shown. */
export function preload(studio, question) {
  for (const card of Object.values(question.cards)) {
    if (!card.image) continue;
    Promise.resolve(studio.transport.picture(atSize(card.image, 256))).then((address) => {
      const img = new Image();
      img.src = address;
      img.decode().catch(() => {});
    });
  }
}
