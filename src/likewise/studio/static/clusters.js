/* The clusters: typical and borderline rows, and what a person can say about them without being
   asked. Each of these is an answer: it is saved, counts, and can be undone. */
import { message } from './answering.js';
import { rowCard, rowName } from './cards.js';
import { button, fill, h, openDialog } from './dom.js';
import { swatch } from './map_screen.js';
import { clusterName, count, percent, plural } from './words.js';

export function clustersScreen(studio) {
  const list = h('div', { class: 'cluster-list' });
  const state = h('p', { class: 'soft', role: 'status' });
  const element = h(
    'div',
    { class: 'screen clusters' },
    h('h1', { tabindex: '-1' }, 'Clusters'),
    h(
      'p',
      { class: 'soft lede' },
      'What you say here counts as answers and can be undone in the history. Drag a row to the cluster it belongs to, or use its Move button.',
    ),
    state,
    list,
  );
  let clusters = [],
    differs = [], // columns, those first in which clusters differ most
    dragged = null,
    isChanged = false; // by something said here, since the clusters were fetched

  async function load() {
    try {
      const answer = studio.snapshot ? await studio.transport.get('/api/clusters') : { clusters: [] };
      clusters = answer.clusters;
      differs = answer.differs ?? [];
      fill(
        list,
        clusters.length
          ? clusters.map(clusterCard)
          : message(
              'No clusters yet',
              'They appear after the first answers.',
              button('Answer questions', { kind: 'primary', onclick: () => studio.go('answer') }),
            ),
      );
      fill(state);
      isChanged = false;
    } catch (error) {
      fill(
        list,
        message('The clusters could not be fetched', error.message, button('Try again', { onclick: load })),
      );
    }
  }

  function say(event, words) {
    studio.outbox.add(event);
    studio.toast(words);
    isChanged = true;
    fill(state, 'Saved as an answer. The clusters follow with the next fit.');
  }

  const rowsOf = (cluster, without = null) =>
    cluster.typical.map((card) => card.row).filter((row) => row !== without);

  function merge(cluster, other) {
    say(
      { kind: 'merge', rows: [], groups: [rowsOf(cluster), rowsOf(other)] },
      `${clusterName(cluster)} and ${clusterName(other)} are one.`,
    );
  }

  function move(card, source, target) {
    const groups = [rowsOf(target, card.row), rowsOf(source, card.row)].filter((group) => group.length);
    say({ kind: 'move', rows: [card.row], groups }, `${rowName(card)} belongs to ${clusterName(target)}.`);
  }

  /** A dialog that lists the other clusters. */
  function chooseCluster(title, without, onChoose) {
    const others = clusters.filter((cluster) => cluster !== without);
    const close = openDialog(
      studio.root,
      title,
      h(
        'div',
        { class: 'choose-list' },
        others.map((cluster) =>
          h(
            'button',
            {
              type: 'button',
              class: 'legend-item',
              onclick: () => {
                close();
                onChoose(cluster);
              },
            },
            swatch(cluster.color_index ?? cluster.cluster),
            h('span', { class: 'name' }, clusterName(cluster)),
            h('span', { class: 'soft' }, count(cluster.size)),
          ),
        ),
      ),
    );
  }

  function rename(cluster, title) {
    const input = h('input', {
      type: 'text',
      value: cluster.name ?? '',
      maxlength: '80',
      'aria-label': `Name of ${clusterName(cluster)}`,
    });
    const form = h(
      'form',
      {
        class: 'rename',
        onsubmit: (event) => {
          event.preventDefault();
          finish(input.value.trim());
        },
        onkeydown: (event) => {
          if (event.key === 'Escape') finish(null);
        },
      },
      input,
      h('button', { type: 'submit', class: 'button small primary' }, 'Save'),
    );
    function finish(name) {
      if (name && name !== cluster.name) {
        say({ kind: 'name', cluster: cluster.cluster, rows: rowsOf(cluster), name }, `Named: ${name}`);
        cluster.name = name;
      }
      form.replaceWith(heading(cluster));
      list.querySelector(`[data-cluster="${cluster.cluster}"] .rename-button`)?.focus();
    }
    title.replaceWith(form);
    input.focus();
    input.select();
  }

  function heading(cluster) {
    const title = h(
      'h2',
      {},
      swatch(cluster.color_index ?? cluster.cluster),
      h('span', { class: 'name' }, clusterName(cluster)),
      button('Name', {
        kind: 'link rename-button',
        'aria-label': `Name ${clusterName(cluster)}`,
        onclick: () => rename(cluster, title),
      }),
    );
    return title;
  }

  function clusterCard(cluster) {
    const name = clusterName(cluster);
    const rows = [...cluster.typical, ...cluster.borderline].map((card) => card.row);
    const section = h(
      'section',
      {
        class: 'cluster',
        'data-cluster': cluster.cluster,
        'aria-label': name,
        ondragover: (event) => {
          if (!dragged || dragged.source === cluster) return;
          event.preventDefault();
          section.classList.add('target');
        },
        ondragleave: (event) => {
          if (!section.contains(event.relatedTarget)) section.classList.remove('target');
        },
        ondrop: (event) => {
          event.preventDefault();
          section.classList.remove('target');
          if (dragged && dragged.source !== cluster) move(dragged.card, dragged.source, cluster);
        },
      },
      heading(cluster),
      h(
        'p',
        { class: 'soft' },
        `${plural(cluster.size, 'row')}`,
        cluster.share_known === null || cluster.share_known === undefined
          ? ''
          : `, ${percent(cluster.share_known)} of them answered about`,
      ),
      cluster.words?.length
        ? h(
            'ul',
            { class: 'words', 'aria-label': 'Words' },
            cluster.words.map((word) => h('li', {}, word)),
          )
        : null,
      strip('Typical', cluster.typical, cluster),
      cluster.borderline.length ? strip('Borderline', cluster.borderline, cluster) : null,
      h(
        'div',
        { class: 'row actions' },
        button('Merge with…', {
          kind: 'small',
          onclick: () => chooseCluster(`${name} is one with`, cluster, (other) => merge(cluster, other)),
        }),
        button('Split…', { kind: 'small', onclick: () => split(cluster) }),
        button('All one group', {
          kind: 'small',
          title: 'All rows shown here belong together',
          onclick: () =>
            say({ kind: 'pure', rows, groups: [] }, `All rows shown of ${name} belong together.`),
        }),
      ),
    );
    return section;
  }

  function strip(title, cards, cluster) {
    return h(
      'div',
      { class: `strip ${title.toLowerCase()}` },
      h('h3', {}, title),
      h(
        'div',
        { class: 'strip-cards' },
        cards.map((card) =>
          h(
            'div',
            {
              class: 'card movable',
              draggable: 'true',
              ondragstart: (event) => {
                dragged = { card, source: cluster };
                event.dataTransfer.effectAllowed = 'move';
                event.dataTransfer.setData('text/plain', String(card.row));
              },
              ondragend: () => {
                dragged = null;
              },
            },
            rowCard(studio, card, { differs, isSmall: true, size: 96 }),
            button('Move', {
              kind: 'quiet small move',
              'aria-label': `Move ${rowName(card)} to another cluster`,
              onclick: () =>
                chooseCluster(`${rowName(card)} belongs to`, cluster, (target) =>
                  move(card, cluster, target),
                ),
            }),
          ),
        ),
      ),
    );
  }

  /** Mark the rows of the other half, or leave it to the questions. */
  function split(cluster) {
    const cards = [...cluster.typical, ...cluster.borderline];
    const other = new Set();
    const send = button('', { kind: 'primary' });
    const picks = cards.map((card) => {
      const pick = h(
        'button',
        {
          type: 'button',
          class: 'card choice pick-row',
          'aria-pressed': 'false',
          'aria-label': `${rowName(card)} belongs to the other half`,
          onclick: () => {
            if (!other.delete(card.row)) other.add(card.row);
            pick.setAttribute('aria-pressed', String(other.has(card.row)));
            pick.classList.toggle('chosen', other.has(card.row));
            paint();
          },
        },
        rowCard(studio, card, { differs, isSmall: true, size: 96 }),
      );
      return pick;
    });
    function paint() {
      const n = other.size;
      send.lastChild.textContent =
        n && n < cards.length
          ? `${n === 1 ? 'This one is' : `These ${n} are`} different from the rest`
          : "I can't say which: ask me about it";
    }
    send.addEventListener('click', () => {
      close();
      const rows = cards.map((card) => card.row);
      const halves = [rows.filter((row) => !other.has(row)), rows.filter((row) => other.has(row))];
      const isClear = halves.every((half) => half.length);
      say(
        { kind: 'split', rows: isClear ? [] : rows, groups: isClear ? halves : [] },
        isClear ? `${clusterName(cluster)} is two.` : 'The next questions will settle it.',
      );
    });
    paint();
    const close = openDialog(
      studio.root,
      `${clusterName(cluster)} is two`,
      [
        h(
          'p',
          { class: 'soft' },
          'Pick the rows of the smaller half. Those left belong together, and so do those picked.',
        ),
        h('div', { class: 'strip-cards' }, picks),
        h('div', { class: 'row' }, send),
      ],
      { wide: true },
    );
  }

  return {
    name: 'clusters',
    title: 'Clusters',
    element,
    show: load,
    onSnapshot() {
      const isBusy = list.querySelector('form') || dragged || studio.isDialogOpen();
      const isLookedAt = list.matches(':hover') || list.contains(document.activeElement);
      if (!isBusy && (isChanged || !isLookedAt)) load();
      else fill(state, 'The clusters have changed. ', button('Show them', { kind: 'small', onclick: load }));
    },
    onSaved(events) {
      if (events.some(({ kind }) => kind === 'name' || kind === 'undo') && !list.querySelector('form'))
        load();
    },
  };
}
