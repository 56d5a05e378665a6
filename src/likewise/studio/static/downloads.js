/* Leaving: everything as files. */
import { h } from './dom.js';
import { plural } from './words.js';

const FILES = [
  ['clusters.csv', 'The cluster of every row, with its id and name.'],
  ['answers.csv', 'All answers that count, with who gave them, when and how fast.'],
  ['model.likewise', 'The model: it places new rows. Opens with likewise in Python or by command.'],
  ['report.html', 'A report to read and to send: map, clusters, answers and doubts in one file.'],
  ['log.db', 'The whole event log, as a backup: everything else follows from it.'],
];

export function downloadsScreen(studio) {
  const saved = h('p', { class: 'soft lede', role: 'status' });
  const element = h(
    'div',
    { class: 'screen downloads' },
    h('h1', {}, 'Downloads'),
    saved,
    h(
      'ul',
      { class: 'files' },
      FILES.map(([name, words]) =>
        h(
          'li',
          {},
          studio.transport.download
            ? h('a', { href: studio.transport.download(name), download: name, class: 'button' }, name)
            : h('strong', {}, name),
          h('span', {}, words),
        ),
      ),
    ),
  );

  function paint() {
    const n = studio.progress?.n_questions;
    saved.textContent = `${n === undefined ? '' : `${plural(n, 'answer')} so far. `}All of it is saved already: you can close this page at any time and go on later.`;
  }

  return { name: 'downloads', title: 'Downloads', element, show: paint, onProgress: paint };
}
