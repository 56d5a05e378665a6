/* The map as an element: draws points, pans, zooms, moves between layouts, finds the point under the
   pointer. It knows nothing of clusters or rows but their numbers. */
import { h } from './dom.js';
import { boundsOf, centersOf, earlierPlaces, gridIndex } from './map_data.js';
import { glPainter } from './map_gl.js';
import { rasterPainter } from './map_raster.js';
import { colorTable, prefersDark } from './palette.js';

const MOVE_MS = 700;
const SLOW_FRAME_MS = 50; // slower ones draw a sample while things move
const REST_MS = 160;
const REACH = 12; // pixels from the pointer
const MARGIN = 0.92; // of the window that the points take up

/**
 * names(header) gives {label: words} to write on the map; onPoint(index, place) hears of the point
 * under the pointer, or -1; isStill maps cannot be moved; wanted: a painter by name.
 */
export function pointMap({ label, names, onPoint = () => {}, isStill = false, ends, wanted = '' }) {
  let canvas = h('canvas', { 'aria-hidden': 'true' });
  const words = h('div', { class: 'map-labels', 'aria-hidden': 'true' });
  const ring = h('div', { class: 'map-ring', hidden: true });
  const cross = h('div', { class: 'map-cross', 'aria-hidden': 'true' });
  const element = h(
    'div',
    {
      class: `map ${isStill ? 'still' : ''}`,
      role: isStill ? 'img' : 'application',
      tabindex: isStill ? null : '0',
      'aria-label': label,
      'aria-roledescription': isStill ? null : 'map of all rows',
    },
    canvas,
    words,
    cross,
    ring,
  );

  let painter = null,
    map = null,
    index = null,
    centers = new Map(),
    tags = [];
  let view = { x: 0, y: 0, scale: 1 },
    home = view;
  let moved = 1,
    moveStart = null,
    only = -1,
    share = 1,
    frame = null,
    restTimer = null,
    marked = -1,
    busyAt = null;

  function choosePainter(allowGl = true) {
    painter =
      (allowGl && wanted !== 'Canvas2D' && glPainter(canvas, { isForced: wanted === 'WebGL2' })) || null;
    if (!painter) {
      const plain = h('canvas', { 'aria-hidden': 'true' }); // a canvas has one kind of context for life
      canvas.replaceWith(plain);
      canvas = plain;
      painter = rasterPainter(canvas);
    }
    element.dataset.painter = painter.name;
    canvas.addEventListener(
      'webglcontextlost',
      () => {
        if (!element.isConnected) return;
        choosePainter(false);
        if (map) {
          painter.setPlaces(map.xy, map.xy);
          painter.setLabels(map.labels);
        }
        resize();
      },
      { once: true },
    );
    painter.setColors(colorTable(prefersDark()));
  }

  const ratio = () => Math.min(window.devicePixelRatio || 1, 2);

  function resize() {
    const { clientWidth, clientHeight } = element;
    if (!clientWidth || !clientHeight) return;
    const size = [Math.round(clientWidth * ratio()), Math.round(clientHeight * ratio())];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const wasHome = view === home;
    setHome();
    if (wasHome) view = home;
    redraw();
  }

  function setHome() {
    if (!map || !map.rows.length) return;
    const { left, right, low, high } = boundsOf(map.xy);
    const across = (element.clientWidth * MARGIN) / Math.max(right - left, 1e-9);
    const up = (element.clientHeight * MARGIN) / Math.max(high - low, 1e-9);
    home = { x: (left + right) / 2, y: (low + high) / 2, scale: Math.min(across, up) };
  }

  /** Pixels of a point: fewer points, larger ones; they grow a little on zooming in. */
  function pointSize() {
    const base = Math.min(9, Math.max(1.3, 40 / map.rows.length ** 0.25)) * (isStill ? 0.7 : 1);
    return Math.min(24, base * Math.max(1, view.scale / home.scale) ** 0.4) * ratio();
  }

  function redraw(isMoving = false) {
    clearTimeout(restTimer);
    if (isMoving) restTimer = setTimeout(() => redraw(), REST_MS);
    frame ??= requestAnimationFrame((at) => {
      frame = null;
      paint(at, isMoving);
    });
  }

  function paint(at, isMoving) {
    if (!map || !painter || !canvas.width) return;
    if (moveStart !== null) {
      const t = Math.min(1, Math.max(0, (at - moveStart) / MOVE_MS));
      moved = t * t * (3 - 2 * t);
      if (t === 1) moveStart = null;
    }
    const isBusy = isMoving || moveStart !== null;
    const n = isBusy ? Math.ceil(map.rows.length * share) : map.rows.length;
    painter.draw({ ...view, scale: view.scale * ratio(), moved, size: pointSize(), n, only });
    if (isBusy && busyAt !== null) {
      const took = at - busyAt;
      share = Math.min(1, Math.max(0.02, share * (took > SLOW_FRAME_MS ? SLOW_FRAME_MS / took : 1.1)));
    }
    busyAt = isBusy ? at : null;
    placeWords();
    placeRing();
    if (moveStart !== null) redraw();
  }

  const toScreen = ([x, y]) => [
    (x - view.x) * view.scale + element.clientWidth / 2,
    (view.y - y) * view.scale + element.clientHeight / 2,
  ];
  const toMap = (px, py) => [
    (px - element.clientWidth / 2) / view.scale + view.x,
    view.y - (py - element.clientHeight / 2) / view.scale,
  ];

  function placeWords() {
    const taken = [];
    for (const { tag, at, width } of tags) {
      const [x, y] = toScreen(at);
      const box = [x - width / 2, y - 11, x + width / 2, y + 11];
      const isFree =
        moveStart === null &&
        taken.every((o) => box[2] < o[0] || box[0] > o[2] || box[3] < o[1] || box[1] > o[3]);
      tag.hidden = !isFree || (only >= 0 && Number(tag.dataset.label) !== only);
      if (tag.hidden) continue;
      taken.push(box);
      tag.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px) translate(-50%, -50%)`;
    }
  }

  function placeRing() {
    ring.hidden = marked < 0 || moveStart !== null;
    if (ring.hidden) return;
    const [x, y] = toScreen([map.xy[2 * marked], map.xy[2 * marked + 1]]);
    ring.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  function makeWords() {
    centers = centersOf(map.xy, map.labels);
    const entries = Object.entries(names(map.header)).filter(([at]) => centers.has(Number(at)));
    tags = entries.map(([at, text]) => {
      const short = text.length > 24 ? `${text.slice(0, 23)}…` : text;
      return {
        tag: h('span', { 'data-label': at, hidden: true }, short),
        at: centers.get(Number(at)),
        width: 8 * short.length + 12,
      };
    });
    words.replaceChildren(...tags.map(({ tag }) => tag));
  }

  function zoomBy(factor, px = element.clientWidth / 2, py = element.clientHeight / 2) {
    const [x, y] = toMap(px, py);
    const scale = Math.min(home.scale * 4000, Math.max(home.scale * 0.5, view.scale * factor));
    view = {
      x: x - (px - element.clientWidth / 2) / scale,
      y: y + (py - element.clientHeight / 2) / scale,
      scale,
    };
    redraw(true);
  }

  function panBy(dx, dy) {
    view = { ...view, x: view.x - dx / view.scale, y: view.y + dy / view.scale };
    redraw(true);
  }

  function pointAt(px, py, reach = REACH) {
    if (!map || moveStart !== null) return -1;
    index ??= gridIndex(map.xy);
    const [x, y] = toMap(px, py);
    return index.nearest(x, y, reach / view.scale);
  }

  function mark(i, px, py) {
    if (i === marked && i < 0) return;
    marked = i;
    placeRing();
    onPoint(i, { x: px, y: py });
  }

  if (!isStill) {
    steer(element, {
      panBy,
      zoomBy,
      hover: (px, py) => mark(pointAt(px, py), px, py),
      leave: () => mark(-1, 0, 0),
      reset: () => {
        view = home;
        redraw(true);
      },
      look() {
        const [px, py] = [element.clientWidth / 2, element.clientHeight / 2];
        mark(pointAt(px, py, element.clientWidth), px, py);
      },
    });
  }
  const observer = new ResizeObserver(resize);
  matchMedia('(prefers-color-scheme: dark)').addEventListener(
    'change',
    () => {
      painter?.setColors(colorTable(prefersDark()));
      redraw();
    },
    { signal: ends },
  );

  return {
    element,
    get map() {
      return map;
    },
    /** Show points; those known before move from where they were. */
    setMap(next) {
      const earlier = map;
      if (!painter) {
        choosePainter();
        resize();
      }
      const isSame = earlier?.xy === next.xy;
      map = next;
      if (!isSame) {
        const isCalm = !earlier || matchMedia('(prefers-reduced-motion: reduce)').matches;
        painter.setPlaces(isCalm ? next.xy : earlierPlaces(next, earlier), next.xy);
        [moved, moveStart] = isCalm ? [1, null] : [0, performance.now()];
        index = null;
        marked = -1;
        const wasHome = view === home;
        setHome();
        if (!earlier || wasHome) view = home;
      }
      painter.setLabels(next.labels);
      makeWords();
      element.dataset.points = next.rows.length;
      redraw();
    },
    /** Let one label stand out; -1: all. */
    setOnly(value) {
      only = value;
      redraw();
    },
    show() {
      observer.observe(element);
      resize();
    },
    hide: () => observer.disconnect(),
    zoomBy,
    /** For measuring: draw one frame now, and wait until it is done. */
    drawNow(dx) {
      view = { ...view, x: view.x - dx / view.scale };
      painter.draw({
        ...view,
        scale: view.scale * ratio(),
        moved: 1,
        size: pointSize(),
        n: map.rows.length,
        only,
      });
      painter.finish();
    },
    remove: () => painter?.remove(),
  };
}

/** Pointer, wheel and keys, translated. */
function steer(element, { panBy, zoomBy, hover, leave, reset, look }) {
  const pointers = new Map();
  const place = (event) => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  element.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, place(event));
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener('pointermove', (event) => {
    const at = place(event),
      before = pointers.get(event.pointerId);
    if (!before) {
      hover(...at);
      return;
    }
    const wide = pointers.size === 2 ? spread() : 0;
    pointers.set(event.pointerId, at);
    if (wide)
      zoomBy(
        spread() / wide,
        ...[0, 1].map((k) => [...pointers.values()].reduce((sum, p) => sum + p[k] / 2, 0)),
      );
    else panBy(at[0] - before[0], at[1] - before[1]);
  });
  for (const end of ['pointerup', 'pointercancel']) {
    element.addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      if (end === 'pointerup' && event.pointerType !== 'mouse') hover(...place(event));
    });
  }
  element.addEventListener('pointerleave', (event) => {
    if (event.pointerType === 'mouse') leave();
  });
  element.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), ...place(event));
    },
    { passive: false },
  );
  element.addEventListener('dblclick', (event) => zoomBy(2, ...place(event)));
  const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  element.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) panBy(...steps[event.key]);
    else if (event.key === '+' || event.key === '=') zoomBy(1.4);
    else if (event.key === '-') zoomBy(1 / 1.4);
    else if (event.key === '0') reset();
    else if (event.key === 'Enter') look();
    else if (event.key === 'Escape') leave();
    else return;
    event.preventDefault();
  });
}
