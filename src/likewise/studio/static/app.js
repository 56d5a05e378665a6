/* The studio as one element: mount(element, transport) on a page of its own or in a notebook. */
import { answeringScreen, message } from './answering.js';
import { clustersScreen } from './clusters.js';
import { button, fill, h } from './dom.js';
import { doubtsScreen } from './doubts.js';
import { downloadsScreen } from './downloads.js';
import { completion, enterName, instructions } from './entering.js';
import { historyScreen } from './history.js';
import { keysHelp, keysAreOn } from './keys.js';
import { mapScreen } from './map_screen.js';
import { createOutbox } from './outbox.js';
import { plural } from './words.js';

const SCREENS = [answeringScreen, mapScreen, clustersScreen, doubtsScreen, historyScreen, downloadsScreen];
const TITLES = [
  ['answer', 'Answer'],
  ['map', 'Map'],
  ['clusters', 'Clusters'],
  ['doubts', 'Doubts'],
  ['history', 'History'],
  ['downloads', 'Downloads'],
];
const HIDDEN_WHEN_BLIND = ['map', 'clusters'];
const TOAST_MS = 2600;

/** Run the studio inside an element; returns a function that takes it away. */
export function mount(element, transport, { keysFrom = element, storage = browserStorage() } = {}) {
  const ends = new AbortController();
  element.classList.add('likewise');
  const studio = {
    root: element,
    transport,
    storage,
    ends: ends.signal,
    keyAt: null,
    start: null,
    progress: null,
    snapshot: null,
    outbox: null,
    isQuestionOpen: false,
    isDialogOpen: () => element.querySelector('dialog[open]') !== null,
  };
  fill(element, h('p', { class: 'message soft', 'aria-busy': 'true' }, 'Opening the studio…'));
  open();

  async function open() {
    try {
      studio.start = await transport.get('/api/start');
    } catch (error) {
      fill(
        element,
        h(
          'div',
          { class: 'entering' },
          message(
            'The studio did not open',
            error.message,
            button('Try again', { kind: 'primary', onclick: open }),
          ),
        ),
      );
      return;
    }
    if (ends.signal.aborted) return;
    studio.completion = () => completion(studio);
    if (studio.start.name === null && studio.start.needs_name !== false)
      fill(element, enterName(studio, open));
    else if (studio.start.study?.code) fill(element, h('div', { class: 'entering' }, completion(studio)));
    else if (studio.start.study && !studio.start.study.done && studio.start.study.instructions)
      fill(element, instructions(studio, begin));
    else begin();
  }

  function begin() {
    const stop = shell(studio, keysFrom);
    ends.signal.addEventListener('abort', stop);
  }

  return () => {
    ends.abort();
    element.replaceChildren();
  };
}

function browserStorage() {
  try {
    return window.localStorage;
  } catch {
    return {
      length: 0,
      key: () => null,
      getItem: () => null,
      setItem() {
        throw new Error('no storage');
      },
      removeItem() {},
    };
  }
}

/** The header, the screens and what connects them; returns a function that stops all of it. */
function shell(studio, keysFrom) {
  const { start, transport, root } = studio;
  const isPage = keysFrom === document;
  const screens = new Map(); // made when they are first opened
  let current = null,
    paintedTroubles = '',
    paintedNotice = '';

  const status = h('span', { class: 'saved' });
  const notice = h('div', { class: 'notices', role: 'alert' }); // stands empty, or nobody hears it fill
  const troubles = h('div', { class: 'notices troubles', role: 'alert' });
  const live = h('div', { class: 'unseen', 'aria-live': 'polite' });
  const toasts = h('div', { class: 'toasts' });
  const tabs = new Map(
    TITLES.map(([name, title]) => [
      name,
      h('button', { type: 'button', class: 'tab', onclick: () => studio.go(name) }, title),
    ]),
  );
  const content = h('main', { id: 'screen' });
  fill(
    root,
    isPage &&
      h(
        'a',
        {
          class: 'skip',
          href: '#screen',
          onclick: (event) => {
            event.preventDefault();
            content.querySelector('h1, h2, button')?.focus();
          },
        },
        'Skip to the screen',
      ),
    h(
      'header',
      { class: 'top' },
      h(
        'p',
        { class: 'brand' },
        logo(),
        h('strong', {}, 'likewise'),
        h('span', { class: 'data-title' }, start.data.title),
      ),
      start.study ? null : h('nav', { 'aria-label': 'Screens' }, [...tabs.values()]),
      h(
        'p',
        { class: 'who' },
        status,
        h('span', { class: 'person', title: start.reviewer ? 'reviewer' : null }, start.name ?? ''),
        button('Keys', { key: '?', kind: 'quiet small', onclick: () => keysHelp(studio) }),
      ),
    ),
    notice,
    troubles,
    content,
    toasts,
    live,
  );

  studio.say = (words) => fill(live, words);
  studio.toast = (words) => {
    const toast = h('p', { role: 'status' }, words);
    toasts.append(toast);
    setTimeout(() => toast.remove(), TOAST_MS);
  };
  studio.setProgress = (progress) => {
    studio.progress = progress;
    paintTroubles(progress.troubles ?? []);
    current?.onProgress?.(progress);
  };
  studio.outbox = createOutbox({
    send: (events) => transport.post('/api/events', { events }),
    storage: studio.storage,
    prefix: `likewise:${start.log ?? ''}:${start.name ?? ''}:`,
    onAnswer(answer, events) {
      screenOf('answer').receive(answer);
      if (current.name !== 'answer') current.onSaved?.(events);
    },
    onChange() {
      paintStatus();
      screenOf('answer').onOutbox();
    },
  });

  function screenOf(name) {
    if (!screens.has(name)) screens.set(name, SCREENS[TITLES.findIndex(([title]) => title === name)](studio));
    return screens.get(name);
  }

  studio.go = (name) => {
    if (!tabs.has(name) || (start.study && name !== 'answer')) name = 'answer';
    current?.hide?.();
    for (const [tab, element] of tabs) element.setAttribute('aria-current', tab === name ? 'page' : 'false');
    tabs.get(name).scrollIntoView({ block: 'nearest', inline: 'nearest' }); // on a phone
    if (isPage && location.hash.slice(1) !== name) history.replaceState(null, '', `#${name}`);
    const isHidden = start.blind && HIDDEN_WHEN_BLIND.includes(name) && studio.isQuestionOpen;
    current = isHidden ? blindScreen(name) : screenOf(name);
    fill(content, current.element);
    if (isPage) window.scrollTo(0, 0);
    current.show?.();
    const title = TITLES.find(([key]) => key === name)[1];
    if (isPage) document.title = `${title} · ${start.data.title} · likewise`;
    if (name !== 'answer') studio.say(`${title} screen`);
  };

  function blindScreen(name) {
    return {
      name,
      element: message(
        'Hidden while a question is open',
        'What the model thinks could influence your answer. Pause to see it.',
        button('Pause and show it', {
          kind: 'primary',
          onclick: () => {
            screenOf('answer').pause();
            studio.go(name);
          },
        }),
        button('Back to the question', { onclick: () => studio.go('answer') }),
      ),
    };
  }

  /** What is wrong in the studio itself; participants of a study cannot mend it. */
  function paintTroubles(lines) {
    if (start.study || lines.join() === paintedTroubles) return;
    paintedTroubles = lines.join();
    fill(
      troubles,
      lines.map((line) => h('p', { class: 'notice bad' }, line)),
    );
  }

  function paintStatus() {
    const { outbox } = studio;
    const n = outbox.size;
    const unsent = n > 0 ? outbox.state.error : '';
    if (!n && status.classList.contains('unsent')) studio.say('All saved');
    status.className = `saved ${unsent ? 'unsent' : ''}`;
    fill(status, unsent ? `${plural(n, 'answer')} not sent yet` : n ? 'Saving…' : 'All saved');
    paintNotice(unsent, outbox.state.refused.map(({ error }) => error).join(' '));
  }

  /** What is wrong with saving; painted when it changes, as each time it is read out. */
  function paintNotice(unsent, refused) {
    if (paintedNotice === unsent + refused) return;
    paintedNotice = unsent + refused;
    fill(
      notice,
      unsent &&
        h(
          'p',
          { class: 'notice' },
          `${unsent} Your answers are kept in this browser and will be sent again.`,
          button('Try now', { kind: 'small', onclick: studio.outbox.retry }),
        ),
      refused &&
        h(
          'div',
          { class: 'notice bad' },
          h('p', {}, `Not taken: ${refused}`),
          button('All right', { kind: 'small', onclick: studio.outbox.clearRefused }),
        ),
    );
  }

  function onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (studio.isDialogOpen() || event.target.closest?.('input, textarea, select')) return;
    const onControl = event.target.closest?.('button, a, summary');
    if (onControl && (event.key === ' ' || (event.key === 'Enter' && !onControl.matches('.pick')))) return;
    if (event.repeat && !event.key.startsWith('Arrow')) return; // a key held down is one answer
    if (event.key === '?') keysHelp(studio);
    else {
      if (!keysAreOn(studio) && event.key.length === 1) return;
      studio.keyAt = event.timeStamp;
      const isUsed = current.key?.(event);
      studio.keyAt = null;
      if (!isUsed) return;
    }
    event.preventDefault();
  }

  const options = { signal: studio.ends };
  keysFrom.addEventListener('keydown', onKey, options);
  if (isPage) {
    window.addEventListener('hashchange', () => studio.go(location.hash.slice(1)), options);
    window.addEventListener('online', () => studio.outbox.retry(), options);
    window.addEventListener(
      'beforeunload',
      (event) => {
        if (studio.outbox.size && !isKept(studio)) event.preventDefault();
      },
      options,
    );
  }
  const stopLive = transport.live({
    onProgress: studio.setProgress,
    onQuestions: (answer) => screenOf('answer').hear(answer),
    onSnapshot: (snapshot) => {
      studio.snapshot = snapshot;
      current?.onSnapshot?.(snapshot);
    },
    onOpen: () => studio.outbox.retry(),
    onLost: () => {},
  });
  studio.outbox.recall();
  studio.go(isPage && !start.study ? location.hash.slice(1) || 'answer' : 'answer');
  paintStatus();
  studio.outbox.retry();
  return () => {
    stopLive();
    studio.outbox.stop();
    current?.hide?.();
  };
}

function logo() {
  return h(
    'svg',
    { viewBox: '0 0 32 32', class: 'logo', 'aria-hidden': 'true' },
    h('circle', { cx: 11, cy: 12, r: 7 }),
    h('circle', { cx: 21, cy: 12, r: 7 }),
    h('circle', { cx: 16, cy: 23, r: 5.5 }),
  );
}

/** Whether the browser's storage can be written. */
function isKept({ storage }) {
  try {
    storage.setItem('likewise:try', '1');
    storage.removeItem('likewise:try');
    return true;
  } catch {
    return false;
  }
}
