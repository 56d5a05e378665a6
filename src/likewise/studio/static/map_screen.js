/* The map of all rows, with the clusters beside it and the row under the pointer. */
import { rowCard } from './cards.js';
import { button, fill, h } from './dom.js';
import { loadMap, mapNames, mapWords, wantedPainter } from './map_store.js';
import { cssColor, prefersDark } from './palette.js';
import { pointMap } from './point_map.js';
import { clusterName, count, percent } from './words.js';

const HOVER_MS = 70;

export function mapScreen(studio) {
  const map = pointMap({
    label: 'Map',
    names: mapNames,
    onPoint: hover,
    ends: studio.ends,
    wanted: wantedPainter(studio),
  });
  const legend = h('ul', { class: 'legend', 'aria-label': 'Clusters' });
  const card = h('div', { class: 'hover-card', role: 'status', hidden: true });
  const empty = h(
    'p',
    { class: 'message soft' },
    'The map is being drawn, and appears here in a moment.',
  );
  const known = new Map(); // row: what the server says about it
  let timer = null,
    only = -1;
  map.element.append(card);
  const tools = h(
    'div',
    { class: 'map-tools' },
    button('+', { kind: 'small', 'aria-label': 'Zoom in', onclick: () => map.zoomBy(1.5) }),
    button('−', { kind: 'small', 'aria-label': 'Zoom out', onclick: () => map.zoomBy(1 / 1.5) }),
  );
  const element = h(
    'div',
    { class: 'map-screen' },
    h('h1', { class: 'unseen' }, 'Map'),
    h('div', { class: 'map-frame' }, map.element, tools, empty),
    legend,
  );

  async function load(snapshot) {
    try {
      const data = await loadMap(studio, snapshot);
      empty.hidden = true;
      known.clear();
      map.setMap(data);
      map.element.setAttribute(
        'aria-label',
        `${mapWords(data.header)}. Arrows move, plus and minus zoom, Enter shows the row in the middle.`,
      );
      paintLegend(data.header);
    } catch (error) {
      fill(empty, error.message);
      empty.hidden = false;
    }
  }

  function paintLegend({ clusters }) {
    fill(
      legend,
      [...clusters]
        .sort((a, b) => b.size - a.size)
        .map((cluster) =>
          h(
            'li',
            {},
            h(
              'button',
              {
                type: 'button',
                class: 'legend-item',
                'aria-pressed': String(only === cluster.color_index),
                onclick: () => {
                  only = only === cluster.color_index ? -1 : cluster.color_index;
                  map.setOnly(only);
                  paintLegend({ clusters });
                },
              },
              swatch(cluster.color_index),
              h('span', { class: 'name' }, clusterName(cluster)),
              h('span', { class: 'soft' }, count(cluster.size)),
            ),
          ),
        ),
    );
  }

  function hover(i, place) {
    clearTimeout(timer);
    card.hidden = i < 0;
    if (i < 0) return;
    const row = map.map.rows[i];
    timer = setTimeout(async () => {
      try {
        if (!known.has(row)) known.set(row, await studio.transport.get(`/api/row/${row}`));
      } catch {
        card.hidden = true;
        return;
      }
      const { card: data, cluster, memberships } = known.get(row);
      const byNumber = new Map(map.map.header.clusters.map((c) => [c.cluster, c]));
      const name = (number) => clusterName(byNumber.get(number) ?? { cluster: number });
      fill(
        card,
        rowCard(studio, data, { isSmall: true, size: 256 }),
        h(
          'p',
          {},
          byNumber.has(cluster)
            ? [swatch(byNumber.get(cluster).color_index), name(cluster)]
            : 'In no cluster',
        ),
        memberships?.length > 1 &&
          h(
            'p',
            { class: 'soft' },
            memberships.map(([number, share]) => `${name(number)} ${percent(share)}`).join(' · '),
          ),
      );
      const { clientWidth, clientHeight } = map.element;
      const x = place.x > clientWidth / 2 ? Math.max(8, place.x - card.offsetWidth - 16) : place.x + 16;
      const y = Math.max(8, Math.min(place.y, clientHeight - card.offsetHeight - 8));
      card.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    }, HOVER_MS);
  }

  return {
    name: 'map',
    title: 'Map',
    element,
    show() {
      map.show();
      if (studio.snapshot) load(studio.snapshot);
    },
    hide: map.hide,
    onSnapshot: load,
    map,
  };
}

/** A dot in the color of a cluster. */
export function swatch(index) {
  const dot = h('span', { class: 'swatch', 'aria-hidden': 'true' });
  dot.style.backgroundColor = cssColor(index, prefersDark());
  return dot;
}
