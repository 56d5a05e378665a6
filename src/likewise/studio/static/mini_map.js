/* A small map beside the question: the clusters as they form. */
import { button, fill, h } from './dom.js';
import { loadMap, mapNames, mapWords, wantedPainter } from './map_store.js';
import { pointMap } from './point_map.js';

const WIDE_ENOUGH = '(min-width: 62rem)';

export function miniMap(studio) {
  const map = pointMap({
    label: 'Map',
    names: mapNames,
    isStill: true,
    ends: studio.ends,
    wanted: wantedPainter(studio),
  });
  const words = h('p', { class: 'soft' }, 'The map appears here in a moment.');
  const element = h(
    'section',
    { class: 'mini-map', 'aria-label': 'Map' },
    map.element,
    words,
    button('Open the map', { kind: 'link', onclick: () => studio.go('map') }),
  );

  async function load(snapshot) {
    if (!matchMedia(WIDE_ENOUGH).matches) return; // a phone has no room for it
    try {
      const data = await loadMap(studio, snapshot);
      map.setMap(data);
      map.element.setAttribute('aria-label', mapWords(data.header));
      fill(words, 'Every dot is a row; a color is a cluster.');
    } catch {
      /* no fit yet: the next snapshot brings it */
    }
  }

  return {
    element,
    show() {
      map.show();
      if (studio.snapshot) load(studio.snapshot);
    },
    hide: map.hide,
    onSnapshot: load,
  };
}
