/* The points of the map: read from bytes, mixed in order, found by position. */

const SEED = 1;

/** {header, xy, rows, labels, order}: n points in a mixed order, so that the first m are a sample. */
export function readMap(buffer) {
  const { header, start } = readHeader(buffer);
  const n = header.n_shown;
  const xy = new Float32Array(buffer, start, 2 * n);
  const rows = new Uint32Array(buffer, start + 8 * n, n);
  const labels = new Uint8Array(buffer, start + 12 * n, n);
  const order = mixedOrder(n);
  const mixed = new Float32Array(2 * n);
  for (let i = 0; i < n; i++) {
    mixed[2 * i] = xy[2 * order[i]];
    mixed[2 * i + 1] = xy[2 * order[i] + 1];
  }
  return {
    header,
    order,
    xy: mixed,
    rows: rows.map((_, i) => rows[order[i]]),
    labels: labels.map((_, i) => labels[order[i]]),
  };
}

/** New labels for points that have not moved. */
export function readLabels(buffer, map) {
  const { header, start } = readHeader(buffer);
  const labels = new Uint8Array(buffer, start, header.n_shown);
  return { ...map, header, labels: labels.map((_, i) => labels[map.order[i]]) };
}

function readHeader(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(buffer, 4, length));
  return { header: JSON.parse(text.replace(/\0+$/, '')), start: 4 + 4 * Math.ceil(length / 4) };
}

function mixedOrder(n) {
  const order = new Uint32Array(n).map((_, i) => i);
  let state = SEED;
  for (let i = n - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const j = Math.floor((state / 4294967296) * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** Where the points of a map were in an earlier one; those that are new, where they are now. */
export function earlierPlaces(map, earlier) {
  const places = map.xy.slice();
  if (!earlier) return places;
  const at = new Int32Array(Math.max(map.header.n, earlier.header.n)).fill(-1);
  earlier.rows.forEach((row, i) => {
    at[row] = i;
  });
  map.rows.forEach((row, i) => {
    if (at[row] < 0) return;
    places[2 * i] = earlier.xy[2 * at[row]];
    places[2 * i + 1] = earlier.xy[2 * at[row] + 1];
  });
  return places;
}

export function boundsOf(xy) {
  const bounds = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
  for (let i = 0; i < xy.length; i += 2) {
    if (xy[i] < bounds.left) bounds.left = xy[i];
    if (xy[i] > bounds.right) bounds.right = xy[i];
    if (xy[i + 1] < bounds.low) bounds.low = xy[i + 1];
    if (xy[i + 1] > bounds.high) bounds.high = xy[i + 1];
  }
  return bounds;
}

/** The mean position of each label: {label: [x, y]}; of a sample where there are many points. */
export function centersOf(xy, labels, most = 50000) {
  const sums = new Map();
  for (let i = 0; i < Math.min(labels.length, most); i++) {
    const sum = sums.get(labels[i]) ?? [0, 0, 0];
    sum[0] += xy[2 * i];
    sum[1] += xy[2 * i + 1];
    sum[2] += 1;
    sums.set(labels[i], sum);
  }
  return new Map([...sums].map(([label, [x, y, n]]) => [label, [x / n, y / n]]));
}

/** A grid over the points: nearest(x, y, reach) is a position in the arrays, or -1. */
export function gridIndex(xy) {
  const n = xy.length / 2;
  const { left, right, low, high } = boundsOf(xy);
  const side = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(n / 4))));
  const step = Math.max(right - left, high - low, 1e-12) / side;
  const column = (x) => Math.min(side - 1, Math.max(0, Math.floor((x - left) / step)));
  const line = (y) => Math.min(side - 1, Math.max(0, Math.floor((y - low) / step)));
  const starts = new Uint32Array(side * side + 1);
  const cellOfPoint = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    cellOfPoint[i] = line(xy[2 * i + 1]) * side + column(xy[2 * i]);
    starts[cellOfPoint[i] + 1] += 1;
  }
  for (let c = 0; c < side * side; c++) starts[c + 1] += starts[c];
  const free = starts.slice();
  const points = new Uint32Array(n);
  for (let i = 0; i < n; i++) points[free[cellOfPoint[i]]++] = i;
  return {
    nearest(x, y, reach) {
      let best = -1,
        sqBest = reach * reach;
      for (let r = line(y - reach); r <= line(y + reach); r++) {
        for (let c = column(x - reach); c <= column(x + reach); c++) {
          for (let k = starts[r * side + c]; k < starts[r * side + c + 1]; k++) {
            const i = points[k];
            const sqDist = (xy[2 * i] - x) ** 2 + (xy[2 * i + 1] - y) ** 2;
            if (sqDist <= sqBest) [best, sqBest] = [i, sqDist];
          }
        }
      }
      return best;
    },
  };
}
