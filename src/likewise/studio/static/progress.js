/* How far the session has come, and how good the clusters are, with how sure that is. */
import { button, fill, h } from './dom.js';
import { count, percent, plural } from './words.js';

const UNKNOWN = 0.95; // an interval this wide says nothing

export function progressPanel(studio) {
  const numbers = h('dl', { class: 'numbers' });
  const quality = h('div', { class: 'quality' });
  const stop = h('div', { class: 'stop', role: 'status' });
  const model = h('p', { class: 'soft model' });
  const element = h(
    'section',
    { class: 'progress', 'aria-label': 'Progress' },
    stop,
    numbers,
    quality,
    model,
  );
  let wasOver = false;

  function paint(progress) {
    if (!progress) return;
    fill(
      numbers,
      tile(count(progress.n_questions), 'answers'),
      tile(count(progress.n_groups), 'groups found'),
      tile(count(progress.n_open_rows), 'rows still open'),
      progress.consistency === null
        ? null
        : tile(percent(progress.consistency), 'same answer when asked again'),
    );
    fill(quality, qualityBar(progress.placed));
    fill(model, modelWords(progress.model));
    if (progress.should_stop !== wasOver) {
      wasOver = progress.should_stop;
      fill(
        stop,
        wasOver
          ? [
              h('p', {}, h('strong', {}, 'You can stop now. '), `Reason: ${progress.why}.`),
              button('See the clusters', { kind: 'small', onclick: () => studio.go('clusters') }),
            ]
          : [],
      );
    }
  }

  return { element, paint };
}

function tile(value, label) {
  return h('div', {}, h('dt', {}, label), h('dd', {}, value));
}

function modelWords(model) {
  if (!model) return '';
  if (model.is_fitting) return 'Learning from the last answers…';
  return model.version ? `The rows fall into ${plural(model.n_clusters, 'cluster')} so far.` : '';
}

/** A bar from 0 to 100 % with the estimate and its interval. */
function qualityBar(placed) {
  if (!placed || placed.share === null || placed.high - placed.low > UNKNOWN) {
    return h('p', { class: 'soft' }, 'The estimated quality appears after some answers.');
  }
  const range = h('span', { class: 'range' });
  range.style.left = `${100 * placed.low}%`;
  range.style.width = `${100 * (placed.high - placed.low)}%`;
  const dot = h('span', { class: 'dot' });
  dot.style.left = `${100 * placed.share}%`;
  const words = `Estimated quality: ${percent(placed.share)} of the rows are placed correctly, probably between ${percent(placed.low)} and ${percent(placed.high)}`;
  return [
    h(
      'p',
      {},
      h('span', { class: 'soft' }, 'Rows placed correctly'),
      h('strong', {}, percent(placed.share)),
      h('span', { class: 'soft' }, `${percent(placed.low)} to ${percent(placed.high)}`),
    ),
    h('div', { class: 'bar', role: 'img', 'aria-label': words }, range, dot),
  ];
}
