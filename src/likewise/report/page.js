'use strict';
(() => {
  const data = JSON.parse(document.getElementById('map-data').textContent);
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const halves = text => new Uint16Array(bytes(text).buffer);
  const n = data.n;
  const places = { before: halves(data.before), after: halves(data.after) };
  const clusters = { before: halves(data.was), after: halves(data.cluster) };
  const share = bytes(data.share), next = halves(data.next), nextShare = bytes(data.nextShare);
  const rows = data.rows ? new Uint32Array(bytes(data.rows).buffer) : null;
  const get = id => document.getElementById(id);
  const canvas = get('map-canvas'), panel = get('row-panel'), tip = get('map-tip');
  const find = get('row-search'), found = get('row-matches');
  const pen = canvas.getContext('2d');
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let when = 'after', from = null, started = 0, chosen = -1, picked = -1, showLines = false;
  let width = 0, height = 0, ratio = 1, scale = 1, left = 0, top = 0, queued = false;
  let colors = [], ink = '', halo = '', sprites = [], atlas = null;

  const nameOf = i => data.names ? data.names[i] : 'row ' + (rows ? rows[i] : i);
  const percent = half => half >= 200 ? '100%' : half ? Math.min(99, Math.round(half / 2)) + '%' : '<1%';
  const make = (tag, text, name) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (name) made.className = name;
    return made;
  };

  function readColors() {
    const style = getComputedStyle(document.documentElement);
    const read = name => style.getPropertyValue(name).trim();
    ink = read('--ink');
    halo = read('--panel');
    colors = data.titles.map((_, c) => read('--c' + c % data.colors));
    sprites = [];
  }

  function sprite(c, size) {
    if (!sprites[c]) {
      const dot = sprites[c] = document.createElement('canvas');
      dot.width = dot.height = Math.ceil(size * ratio) + 2;
      const ink = dot.getContext('2d'), middle = dot.width / 2;
      ink.fillStyle = colors[c] || '#888';
      ink.beginPath();
      if (Math.floor(c / 10) % 2) ink.rect(1, 1, dot.width - 2, dot.width - 2);
      else ink.arc(middle, middle, middle - 1, 0, 7);
      ink.fill();
    }
    return sprites[c];
  }

  // Where a point is now, between its old place and its new one.
  function progress() {
    const t = from === null ? 1 : Math.min(1, (performance.now() - started) / 700);
    if (t >= 1) from = null;
    return t * t * (3 - 2 * t);
  }
  const at = (i, axis, t) => {
    const end = places[when][2 * i + axis];
    return from === null ? end : places[from][2 * i + axis] * (1 - t) + end * t;
  };
  const onX = x => left + x * scale, onY = y => top + y * scale;

  function draw() {
    queued = false;
    if (!width) return;
    const t = progress(), labels = clusters[when];
    const size = Math.max(3, Math.min(9, 5.5 * Math.sqrt(scale / fitted()) * (n > 8000 ? .65 : 1)));
    if (draw.size !== size) { sprites = []; draw.size = size; }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    for (const faint of [true, false]) {
      for (let i = 0; i < n; i++) {
        const isFaint = picked >= 0 && labels[i] !== picked;
        if (isFaint !== faint) continue;
        const x = onX(at(i, 0, t)), y = onY(at(i, 1, t));
        if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
        pen.globalAlpha = isFaint ? .08 : .8;
        pen.drawImage(sprite(labels[i], size), x - size / 2, y - size / 2, size, size);
      }
    }
    pen.globalAlpha = 1;
    if (showLines) drawLines(t);
    drawLabels(t, labels);
    if (chosen >= 0) {
      pen.strokeStyle = ink;
      pen.lineWidth = 2.5;
      pen.beginPath();
      pen.arc(onX(at(chosen, 0, t)), onY(at(chosen, 1, t)), size + 4, 0, 7);
      pen.stroke();
    }
    if (from !== null) queue();
  }

  function drawLines(t) {
    pen.strokeStyle = ink;
    pen.lineWidth = 1.3;
    for (const [isApart, i, j] of data.lines) {
      pen.setLineDash(isApart ? [5, 4] : []);
      pen.beginPath();
      pen.moveTo(onX(at(i, 0, t)), onY(at(i, 1, t)));
      pen.lineTo(onX(at(j, 0, t)), onY(at(j, 1, t)));
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  function drawLabels(t, labels) {
    const boxes = [], middles = medians(labels);
    pen.textAlign = 'center';
    pen.textBaseline = 'middle';
    pen.lineJoin = 'round';
    for (const [c, i, , low, high] of middles) {
      if (picked >= 0 && c !== picked) continue;
      const x = onX(at(i, 0, t)), ends = [onY(at(low, 1, t)), onY(at(high, 1, t))];
      const isSmall = Math.abs(ends[0] - ends[1]) < 36; // its name would hide it: above it, then
      const y = isSmall ? Math.max(Math.min(...ends) - 12, 9) : onY(at(i, 1, t));
      if (x < 0 || y < 0 || x > width || y > height) continue;
      const title = data.titles[c] || String(c);
      for (const text of title === String(c) ? [title] : [title, String(c)]) {
        pen.font = '600 13px system-ui, sans-serif';
        const half = pen.measureText(text).width / 2 + 3, box = [x - half, y - 9, x + half, y + 9];
        const hits = boxes.some(b => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3]);
        const isOff = box[0] < 0 || box[2] > width;
        if ((hits || isOff) && text !== String(c)) continue;
        boxes.push(box);
        pen.strokeStyle = halo;
        pen.lineWidth = 4;
        pen.strokeText(text, x, y);
        pen.fillStyle = ink;
        pen.fillText(text, x, y);
        break;
      }
    }
  }

  // For every cluster the point nearest to its median, how many it has, its lowest and highest.
  function medians(labels) {
    const kept = medians[when];
    if (kept) return kept;
    const members = new Map();
    for (let i = 0; i < n; i++) {
      if (!members.has(labels[i])) members.set(labels[i], []);
      members.get(labels[i]).push(i);
    }
    const middle = (list, axis) => {
      const sorted = list.map(i => places[when][2 * i + axis]).sort((a, b) => a - b);
      return sorted[sorted.length >> 1];
    };
    const made = [];
    for (const [c, list] of members) {
      const x = middle(list, 0), y = middle(list, 1);
      const far = i => Math.abs(places[when][2 * i] - x) + Math.abs(places[when][2 * i + 1] - y);
      const upward = [...list].sort((i, j) => places[when][2 * i + 1] - places[when][2 * j + 1]);
      const [low, high] = [.05, .95].map(share => upward[Math.floor(share * upward.length)]);
      made.push([c, list.reduce((best, i) => far(i) < far(best) ? i : best), list.length, low, high]);
    }
    made.sort((a, b) => b[2] - a[2]);
    return medians[when] = made;
  }

  const queue = () => { if (!queued) { queued = true; requestAnimationFrame(draw); } };
  const fitted = () => Math.min(width, height) * .92 / 65535;

  function fit() {
    scale = fitted();
    left = (width - 65535 * scale) / 2;
    top = (height - 65535 * scale) / 2;
    queue();
  }

  function zoom(factor, x = width / 2, y = height / 2) {
    const wanted = Math.max(fitted() * .7, Math.min(fitted() * 200, scale * factor));
    left = x - (x - left) * wanted / scale;
    top = y - (y - top) * wanted / scale;
    scale = wanted;
    hideTip();
    queue();
  }

  function move(dx, dy) {
    left += dx;
    top += dy;
    hideTip();
    queue();
  }

  function nearest(x, y, reach) {
    let best = -1, closest = reach * reach;
    for (let i = 0; i < n; i++) {
      if (picked >= 0 && clusters[when][i] !== picked) continue;
      const dx = onX(places[when][2 * i]) - x, dy = onY(places[when][2 * i + 1]) - y;
      if (dx * dx + dy * dy < closest) { closest = dx * dx + dy * dy; best = i; }
    }
    return best;
  }

  function picture(i) {
    if (!atlas || !data.picture) return null;
    const at = data.picture.of ? data.picture.of.indexOf(i) : i;
    if (at < 0) return null;
    const { w, h, columns } = data.picture, shown = make('canvas', '', 'thumb');
    shown.width = w;
    shown.height = h;
    shown.getContext('2d').drawImage(atlas, at % columns * w, Math.floor(at / columns) * h, w, h, 0, 0, w, h);
    shown.setAttribute('role', 'img');
    shown.setAttribute('aria-label', 'image of ' + nameOf(i));
    return shown;
  }

  const titleOf = c => data.titles[c] || String(c);
  function about(i) {
    const c = clusters.after[i], words = ['Cluster ' + titleOf(c) + ', membership ' + percent(share[i])];
    if (data.titles.length > 1) words.push('next: ' + titleOf(next[i]) + ', ' + percent(nextShare[i]));
    return words.join('; ');
  }

  function fill(box, i) {
    box.replaceChildren(make('strong', nameOf(i)));
    const shown = picture(i);
    if (shown) box.append(shown);
    if (data.details && data.details[i]) box.append(make('p', data.details[i]));
    box.append(make('p', about(i), 'why'));
  }

  function choose(i, center) {
    chosen = i;
    if (i < 0) { panel.replaceChildren(make('p', data.hint, 'why')); queue(); return; }
    fill(panel, i);
    if (center) {
      if (picked >= 0 && clusters[when][i] !== picked) get('pick-all').click();
      left = width / 2 - places[when][2 * i] * scale;
      top = height / 2 - places[when][2 * i + 1] * scale;
    }
    queue();
  }

  const hideTip = () => { tip.hidden = true; };
  function showTip(i, x, y) {
    if (i < 0) return hideTip();
    fill(tip, i);
    tip.hidden = false;
    tip.style.left = Math.min(x + 14, Math.max(0, width - tip.offsetWidth - 4)) + 'px';
    tip.style.top = (y + 18 + tip.offsetHeight > height ? Math.max(0, y - tip.offsetHeight - 12) : y + 18) + 'px';
  }

  function search() {
    const wanted = find.value.trim().toLowerCase(), matches = [];
    const holds = (text, i) => text && text.toLowerCase().includes(wanted) && !matches.includes(i);
    for (let i = 0; wanted && i < n && matches.length < 12; i++) if (holds(nameOf(i), i)) matches.push(i);
    for (let i = 0; wanted && data.details && i < n && matches.length < 12; i++) if (holds(data.details[i], i)) matches.push(i);
    found.replaceChildren(...matches.map(i => {
      const item = make('li'), button = make('button', nameOf(i));
      button.type = 'button';
      button.append(make('span', ' ' + titleOf(clusters.after[i]), 'why'));
      button.addEventListener('click', () => choose(i, true));
      item.append(button);
      return item;
    }));
    if (wanted && !matches.length) found.append(make('li', data.rows ? 'Not among the rows on the map.' : 'No such row.', 'why'));
    return matches;
  }

  function show(time) {
    if (time === when) return;
    if (!calm.matches) { from = when; started = performance.now(); }
    when = time;
    hideTip();
    queue();
  }

  function resize() {
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    ratio = Math.min(2, devicePixelRatio || 1);
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    sprites = [];
    fit();
  }

  const pointers = new Map();
  let dragged = 0;
  const spot = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener('pointerdown', event => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, spot(event));
    dragged = 0;
  });
  canvas.addEventListener('pointermove', event => {
    const here = spot(event), before = pointers.get(event.pointerId);
    if (!before) return showTip(nearest(...here, 14), ...here);
    if (pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      const gap = place => Math.hypot(place[0] - other[0], place[1] - other[1]) || 1;
      zoom(gap(here) / gap(before), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
    } else {
      move(here[0] - before[0], here[1] - before[1]);
    }
    dragged += Math.abs(here[0] - before[0]) + Math.abs(here[1] - before[1]);
    pointers.set(event.pointerId, here);
  });
  const release = event => {
    if (pointers.delete(event.pointerId) && event.type === 'pointerup' && dragged < 6) {
      choose(nearest(...spot(event), event.pointerType === 'touch' ? 26 : 14), false);
    }
  };
  for (const kind of ['pointerup', 'pointercancel']) canvas.addEventListener(kind, release);
  canvas.addEventListener('pointerleave', hideTip);
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    zoom(Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) * .003), ...spot(event));
  }, { passive: false });
  canvas.addEventListener('dblclick', event => zoom(2, ...spot(event)));
  canvas.addEventListener('keydown', event => {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (steps[event.key]) move(...steps[event.key]);
    else if (event.key === '+' || event.key === '=') zoom(1.4);
    else if (event.key === '-') zoom(1 / 1.4);
    else if (event.key === '0') fit();
    else if (event.key === 'Enter') choose(nearest(width / 2, height / 2, 1e6), false);
    else if (event.key === 'Escape') choose(-1, false);
    else return;
    event.preventDefault();
  });
  find.addEventListener('input', search);
  find.addEventListener('keydown', event => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    const matches = search();
    if (matches.length) choose(matches[0], true);
  });
  get('picker').addEventListener('change', event => {
    picked = event.target.value === 'all' ? -1 : +event.target.value;
    queue();
  });
  const lines = get('show-answers');
  if (lines) lines.addEventListener('change', () => { showLines = lines.checked; queue(); });
  for (const button of document.querySelectorAll('input[name=when]')) {
    button.addEventListener('change', () => show(button.value));
  }
  for (const [id, work] of [['zoom-in', () => zoom(1.5)], ['zoom-out', () => zoom(1 / 1.5)], ['zoom-all', fit]]) {
    get(id).addEventListener('click', work);
  }
  document.addEventListener('click', event => {
    const link = event.target.closest('a[data-point]');
    if (link) choose(+link.dataset.point, true);
  });
  dark.addEventListener('change', () => { readColors(); queue(); });
  if (data.picture) {
    const image = new Image();
    image.onload = () => { atlas = image; };
    image.src = data.picture.src;
  }
  get('live').hidden = false;
  document.documentElement.classList.add('is-live');
  readColors();
  choose(-1, false);
  new ResizeObserver(resize).observe(canvas);
})();
