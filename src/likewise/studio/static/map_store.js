/* The map of the last fit, fetched once for all who show it. */
import { readLabels, readMap } from './map_data.js';
import { clusterName } from './words.js';

/** Fetch the map unless the one at hand is of this version; labels alone where no point moved. */
export async function loadMap(studio, { version, layout = null }) {
  const at = studio.map;
  if (at && at.header.version >= version) return at;
  if (studio.mapRequest) {
    await studio.mapRequest; // of an earlier fit, perhaps
    return loadMap(studio, { version, layout });
  }
  const isSameLayout = at && layout !== null && at.header.layout === layout;
  studio.mapRequest = studio.transport
    .bytes(isSameLayout ? '/api/map?labels=1' : '/api/map')
    .then((buffer) => {
      studio.map = isSameLayout ? readLabels(buffer, at) : readMap(buffer);
      return studio.map;
    })
    .finally(() => {
      studio.mapRequest = null;
    });
  return studio.mapRequest;
}

/** The words on the map: {label: name}. */
export function mapNames(header) {
  return Object.fromEntries(header.clusters.map((cluster) => [cluster.color_index, clusterName(cluster)]));
}

export function mapWords(header) {
  return `Map of ${header.n_shown} of ${header.n} rows in ${header.clusters.length} clusters`;
}

/** "WebGL2" or "Canvas2D" where somebody wants one: localStorage "likewise:painter". */
export function wantedPainter(studio) {
  try {
    return studio.storage.getItem('likewise:painter') ?? '';
  } catch {
    return '';
  }
}
