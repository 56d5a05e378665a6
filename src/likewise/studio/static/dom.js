/* Small functions that make elements. Text from data only ever becomes a text node. */

const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set(['svg', 'path', 'circle', 'rect', 'line', 'g', 'text']);

/** An element: h('p', {class: 'soft', onclick: f}, 'text', child, [children]). */
export function h(tag, attributes = {}, ...children) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replace what is inside an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** A button with its key shown on it: button('Together', {key: 'y', onclick: f}). */
export function button(label, { key = null, kind = '', ...attributes } = {}) {
  const shown = key === null ? null : [h('kbd', { 'aria-hidden': 'true' }, keyLabel(key)), ' '];
  return h(
    'button',
    { type: 'button', class: `button ${kind}`, 'aria-keyshortcuts': key, ...attributes },
    shown,
    h('span', {}, label),
  );
}

function keyLabel(key) {
  return key === 'Enter' ? '↵' : key.length === 1 ? key.toUpperCase() : key;
}

/** A modal dialog that closes by Escape and gives the focus back; returns its close function. */
export function openDialog(root, title, content, { wide = false } = {}) {
  const before = document.activeElement;
  const heading = h('h2', { id: 'dialog-title' }, title);
  const close = () => dialog.close();
  const dialog = h(
    'dialog',
    { 'aria-labelledby': 'dialog-title', class: wide ? 'wide' : '' },
    h('header', {}, heading, button('Close', { kind: 'quiet', onclick: close })),
    h('div', { class: 'dialog-body' }, content),
  );
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (before && before.isConnected) before.focus();
  });
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) close();
  });
  root.append(dialog);
  dialog.showModal();
  return close;
}

/** An icon drawn by one path in a box of 20 by 20. */
export function icon(path) {
  return h('svg', { viewBox: '0 0 20 20', class: 'icon', 'aria-hidden': 'true' }, h('path', { d: path }));
}
