/* The keys, and a switch that turns single keys off (for speech input, WCAG 2.1.4). */
import { h, openDialog } from './dom.js';

const SWITCH = 'likewise:single-keys';

export function keysAreOn(studio) {
  try {
    return studio.storage.getItem(SWITCH) !== 'off';
  } catch {
    return true;
  }
}

const KEYS = [
  ['1 to 9', 'the group, the odd one, or the rows of a grid'],
  ['Y, N', 'together, apart'],
  ['N, W, A', 'a new group, nowhere, another group'],
  ['Enter', 'send the rows picked in a grid'],
  ['C', "can't tell"],
  ['S', 'skip the question'],
  ['U', 'undo the last answer'],
  ['Z', 'look closer'],
  ['K', 'change the kind of question'],
  ['Arrows, + and −, 0', 'move, zoom and reset the map; Enter shows the row in its middle'],
  ['↑ ↓, K, F', 'choose a doubtful answer, keep it, flip it'],
  ['?', 'these keys'],
];

export function keysHelp(studio) {
  const box = h('input', {
    type: 'checkbox',
    checked: keysAreOn(studio),
    onchange: () => {
      try {
        studio.storage.setItem(SWITCH, box.checked ? 'on' : 'off');
      } catch {
        /* lasts until the page is left */
      }
    },
  });
  openDialog(studio.root, 'Keys', [
    h(
      'dl',
      { class: 'keys' },
      KEYS.map(([keys, words]) => h('div', {}, h('dt', {}, keys), h('dd', {}, words))),
    ),
    h('label', { class: 'switch' }, box, ' Answer with single keys'),
    h('p', { class: 'soft' }, `likewise ${studio.start.version ?? ''}. Everything stays on this machine.`),
  ]);
}
