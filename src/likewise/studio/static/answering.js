/* The answering screen: one question after another, each painted at once from those fetched ahead,
   while the answer is on its way. */
import { preload } from './cards.js';
import { button, fill, h } from './dom.js';
import { progressPanel } from './progress.js';
import { questionView } from './question.js';
import { createStream } from './stream.js';
import { miniMap } from './mini_map.js';
import { KIND_NAMES, capital } from './words.js';

const AGAIN_MS = 1000;
const BRIEF_MS = 400;
const NEEDS_REPLY = ['another', 'new']; // the next screen shows what these made

export function answeringScreen(studio) {
  const stream = createStream();
  const place = h('div', { class: 'question-place' });
  const tools = h('div', { class: 'tools', role: 'group', 'aria-label': 'Other ways on' });
  const panel = studio.start.study ? null : progressPanel(studio);
  const map = studio.start.study || studio.start.blind ? null : miniMap(studio);
  const trials = h('p', { class: 'trials', role: 'status' });
  const aside = h('aside', { class: 'side', 'aria-label': 'Progress and map' }, panel?.element, map?.element);
  const element = h(
    'div',
    { class: `answering ${studio.start.study ? 'study' : ''}` },
    h('div', { class: 'main' }, studio.start.study ? trials : null, place, tools),
    studio.start.study ? null : aside,
  );
  let view = null,
    paintedAt = 0,
    paintedRows = '',
    askedAt = null,
    emptyTimer = null,
    hiddenAt = null,
    isPaused = false,
    error = '';
  let kind = studio.start.kind ?? '';
  let kindToAsk = ''; // it stays with the person once the server knows

  let chapter = 0; // questions asked for in an earlier one are not taken any more
  let fetching = -1; // the chapter that a request on its way belongs to
  let awaited = ''; // id of the event whose reply brings the next screen
  let refillTimer = null;
  let refilledFor = '';
  let early = null; // a list of questions that overtook the reply to an answer

  /** Ask for questions; once all answers have arrived, as these decide what comes next. */
  async function fetchQuestions() {
    if (fetching === chapter || studio.outbox.size) return;
    const mine = chapter;
    fetching = mine;
    error = '';
    let isInVain = false;
    try {
      const query = kindToAsk ? `?kind=${encodeURIComponent(kindToAsk)}` : '';
      const answer = await studio.transport.get(`/api/question${query}`);
      if (mine !== chapter) return;
      kindToAsk = '';
      receive(answer, true);
      isInVain = stream.isWaiting;
    } catch (failure) {
      if (mine !== chapter) return;
      error = failure.message;
      isInVain = failure.status === 0;
      if (stream.current === null) paint();
    }
    fetching = -1;
    if (isInVain) setTimeout(fetchQuestions, AGAIN_MS);
  }

  /** Questions and progress from the server, asked for or with an answer. */
  function receive(answer, isAsked = false) {
    if (answer.progress) studio.setProgress(answer.progress);
    if (answer.study) Object.assign(studio.start.study, answer.study);
    if (!answer.questions) return;
    const isAll = isAsked && answer.progress?.should_stop !== false;
    takeList(answer, { isAsked, isAll });
    if (early && early.questions[0]?.id === stream.current?.id) takeList(early, {});
    early = null;
    if (studio.start.study?.code && stream.current === null) paint();
    else if (stream.isWaiting) fetchQuestions();
  }

  /** Questions that come by themselves. Those made before our last answer arrived are not for now. */
  function hear(answer) {
    if (studio.outbox.size) early = answer;
    else takeList(answer, {});
  }

  function takeList({ questions, turn }, options) {
    if (studio.outbox.has(awaited)) return;
    if (stream.take(questions, { ...options, turn })) {
      error = '';
      paint();
    }
    place.dataset.ahead = stream.ahead.length;
    stream.ahead.forEach((question) => preload(studio, question));
    clearTimeout(refillTimer);
    const isAlone = stream.current !== null && !stream.ahead.length && stream.current.id !== refilledFor;
    if (isAlone) refillTimer = setTimeout(refill, AGAIN_MS, stream.current.id);
  }

  /** The question after this one may have been announced before we listened: ask, once. */
  function refill(questionId) {
    refilledFor = questionId;
    if (stream.current?.id === questionId && !stream.ahead.length && !isPaused) fetchQuestions();
  }

  /** Forget what was fetched, and take only what is asked for from now on. */
  function startOver() {
    chapter += 1;
    early = null;
    stream.restart();
  }

  function paint(keyAt = null) {
    askedAt = keyAt ?? askedAt;
    clearTimeout(emptyTimer);
    const hadFocus = element.contains(document.activeElement) || document.activeElement === document.body;
    studio.isQuestionOpen = stream.current !== null && !isPaused;
    view = studio.isQuestionOpen ? questionView(studio, stream.current, choose) : null;
    place.dataset.ahead = stream.ahead.length;
    if (view) fill(place, view.element);
    else paintEmpty();
    paintTools();
    if (panel) panel.paint(studio.progress);
    if (studio.start.study) paintTrials();
    if (!view) return;
    if (hadFocus && !studio.isDialogOpen()) view.heading.focus({ preventScroll: true });
    if (element.isConnected) studio.say(view.heading.textContent);
    if (stream.current.rows.join() !== paintedRows) {
      if (place.getBoundingClientRect().top < 0) place.scrollIntoView(); // an answer far down was tapped
      paintedAt = performance.now();
      hiddenAt = isAway() ? paintedAt : null;
    }
    paintedRows = stream.current.rows.join();
    if (askedAt !== null) measurePaint(askedAt, keyAt === null);
    askedAt = null;
  }

  /** The question that was answered stays, dimmed, for the moment that the next one takes. */
  function paintEmpty() {
    const answered = place.querySelector('.question');
    const isBrief = answered && stream.isWaiting && !isPaused && !error && !studio.start.study?.code;
    if (!isBrief) {
      fill(place, emptyState());
      return;
    }
    answered.setAttribute('inert', '');
    emptyTimer = setTimeout(() => fill(place, emptyState()), BRIEF_MS);
  }

  function emptyState() {
    if (isPaused)
      return message(
        'Paused',
        'The question comes back when you go on.',
        button('Go on answering', { kind: 'primary', onclick: resume }),
      );
    if (error)
      return message(
        'No question could be fetched',
        error,
        button('Try again', { kind: 'primary', onclick: tryAgain }),
      );
    if (studio.start.study && (stream.isOver || studio.start.study.code)) return studio.completion();
    if (stream.isOver) {
      const why = studio.progress?.why;
      return message(
        'Nothing is left to ask',
        why ? `${capital(why)}.` : 'Every answer would be known before.',
        button('See the clusters', { kind: 'primary', onclick: () => studio.go('clusters') }),
        button('Downloads', { onclick: () => studio.go('downloads') }),
      );
    }
    return h(
      'div',
      { class: 'message', 'aria-busy': 'true' },
      h('p', { class: 'soft' }, 'Choosing the next question…'),
    );
  }

  function paintTools() {
    const isOpen = view !== null;
    fill(
      tools,
      isOpen &&
        view.cantTell &&
        button(capital(view.cantTell.label), {
          key: view.cantTell.key,
          kind: 'quiet',
          'data-choice': 'cant_tell',
          onclick: () => choose(view.cantTell.choice),
        }),
      isOpen && button('Skip', { key: 's', kind: 'quiet', onclick: () => skip() }),
      button('Undo', { key: 'u', kind: 'quiet', onclick: () => undo() }),
      isOpen &&
        button('Zoom', {
          key: 'z',
          kind: 'quiet',
          onclick: (event) => view.key({ key: 'z', target: event.target }),
        }),
      !studio.start.study && studio.start.kinds.length > 1 && kindMenu(),
    );
  }

  function kindMenu() {
    const select = h(
      'select',
      {
        class: 'kind',
        'aria-label': 'Kind of question',
        'aria-keyshortcuts': 'k',
        title: 'Kind of question (K)',
        onchange: () => changeKind(select.value),
      },
      studio.start.kinds.map((name) => h('option', { value: name }, KIND_NAMES[name] ?? name)),
    );
    select.value = kind || stream.current?.kind || studio.start.kinds[0];
    return h('label', { class: 'kind-label' }, h('kbd', { 'aria-hidden': 'true' }, 'K'), select);
  }

  function paintTrials() {
    const { n_trials: n, done } = studio.start.study;
    const at = Math.min(n, done + 1);
    fill(trials, studio.start.study.code ? '' : `Trial ${at} of ${n}`);
  }

  function seconds() {
    return Math.round(performance.now() - paintedAt) / 1000;
  }

  function choose(choice) {
    const keyAt = studio.keyAt ?? performance.now();
    if (!stream.current || isPaused) return;
    const event = studio.outbox.add({
      kind: 'answer',
      question: stream.current.id,
      choice,
      seconds: seconds(),
    });
    if (studio.start.study) studio.start.study.done += 1;
    // offline, the questions fetched ahead come first
    const waits = NEEDS_REPLY.includes(choice) && !studio.outbox.state.isOffline;
    if (waits) {
      chapter += 1;
      awaited = event;
    }
    stream.finish(event, { waits });
    paint(keyAt);
  }

  function skip() {
    if (!stream.current || isPaused) return;
    studio.outbox.add({ kind: 'skip', question: stream.current.id });
    stream.finish(null);
    paint(performance.now());
  }

  function undo() {
    if (isPaused) return;
    const step = stream.stepBack();
    if (step?.event) studio.outbox.add({ kind: 'undo', undoes: step.event });
    if (step && studio.start.study && step.event) studio.start.study.done -= 1;
    if (!step) {
      startOver();
      studio.outbox.add({ kind: 'undo' });
    }
    studio.toast(step && !step.event ? 'The skipped question is back.' : 'The last answer was taken back.');
    paint(performance.now());
  }

  function changeKind(name) {
    kind = name;
    kindToAsk = name;
    startOver();
    paint();
    fetchQuestions();
  }

  function tryAgain() {
    studio.outbox.retry();
    fetchQuestions();
  }

  function resume() {
    isPaused = false;
    startOver();
    paint();
    fetchQuestions();
  }

  const isAway = () => document.hidden || !element.isConnected;

  /** The time that the question is out of sight is not time to think. */
  function onSight() {
    if (isAway()) hiddenAt ??= performance.now();
    else if (hiddenAt !== null) {
      paintedAt += performance.now() - hiddenAt;
      hiddenAt = null;
    }
  }

  document.addEventListener('visibilitychange', onSight, { signal: studio.ends });

  return {
    name: 'answer',
    title: 'Answer',
    element,
    receive,
    hear,
    show() {
      onSight();
      if (stream.current === null && !isPaused) fetchQuestions();
      paint();
      map?.show();
    },
    hide() {
      hiddenAt ??= performance.now();
      map?.hide();
    },
    /** Something was saved, refused or could not be sent. */
    onOutbox() {
      if (!stream.isWaiting || isPaused) return;
      if (!studio.outbox.state.isOffline) fetchQuestions();
      else if (stream.goOn()) {
        awaited = '';
        paint();
      }
    },
    onProgress: (progress) => panel?.paint(progress),
    onSnapshot: (snapshot) => map?.onSnapshot(snapshot),
    pause() {
      isPaused = true;
      paint();
    },
    key(event) {
      const pressed = event.key.toLowerCase();
      if (view?.key(event)) return true;
      if (pressed === 'u') undo();
      else if (pressed === 's') skip();
      else if (pressed === 'k') tools.querySelector('select')?.focus();
      else return false;
      return true;
    },
  };
}

export function message(title, words, ...actions) {
  return h(
    'div',
    { class: 'message' },
    h('h2', {}, title),
    h('p', { class: 'soft' }, words),
    h('div', { class: 'row' }, actions),
  );
}

/** From the key to the frame after the next question is on the screen: performance "key-to-paint". */
function measurePaint(start, hasWaited) {
  requestAnimationFrame(() => {
    const channel = new MessageChannel(); // a task right after the frame
    channel.port1.onmessage = () => {
      performance.measure('key-to-paint', { start, end: performance.now(), detail: { hasWaited } });
    };
    channel.port2.postMessage(null);
  });
}
