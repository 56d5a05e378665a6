/* Events on their way to the server. Each is kept in the browser's storage under its own key until
   the server says that it is saved, and is sent again until then; the server counts an id once. So
   nothing is lost when the connection, the server or the page goes away, and nothing counts twice. */

const MOST_AT_ONCE = 50;
const MOST_BYTES = 48000; // the server takes 64 KB
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // a plain http address of another machine
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * send(events) posts and returns the answer {saved, refused, ...};
 * onAnswer(answer, events) hears each answer, onChange() each change of the state.
 */
export function createOutbox({ send, storage, prefix, onAnswer, onChange }) {
  const waiting = new Map(); // id: event, in order
  const state = { isOffline: false, error: '', refused: [] };
  let isSending = false,
    timer = null,
    wait = FIRST_WAIT_MS,
    order = 0,
    oneByOne = false;

  function keep(event) {
    order = Math.max(order + 1, Date.now() * 1000);
    try {
      storage.setItem(prefix + event.id, JSON.stringify({ order, event }));
    } catch {
      /* full or forbidden: it is still in memory, and leaving the page warns */
    }
  }

  function forget(id) {
    waiting.delete(id);
    try {
      storage.removeItem(prefix + id);
    } catch {
      /* it was never kept */
    }
  }

  /** What an earlier page could not send, in its order. */
  function recall() {
    const kept = [];
    try {
      for (let i = 0; i < storage.length; i++) {
        const key = storage.key(i);
        if (key.startsWith(prefix)) kept.push(JSON.parse(storage.getItem(key)));
      }
    } catch {
      return;
    }
    kept.sort((a, b) => a.order - b.order);
    for (const { event } of kept) if (!waiting.has(event.id)) waiting.set(event.id, event);
  }

  function batch() {
    const events = [];
    let bytes = 0;
    for (const event of waiting.values()) {
      bytes += JSON.stringify(event).length * 2;
      if (events.length && (oneByOne || events.length >= MOST_AT_ONCE || bytes > MOST_BYTES)) break;
      events.push(event);
    }
    return events;
  }

  async function flush() {
    clearTimeout(timer);
    timer = null;
    if (isSending) return;
    isSending = true;
    while (waiting.size) {
      const events = batch();
      let answer;
      try {
        answer = await send(events);
      } catch (error) {
        if (!handle(error, events)) break;
        continue;
      }
      wait = FIRST_WAIT_MS;
      oneByOne = false;
      Object.assign(state, { isOffline: false, error: '' });
      const byId = new Map(events.map((event) => [event.id, event]));
      for (const id of answer.saved ?? []) forget(id);
      for (const { id, error } of answer.refused ?? []) refuse(byId.get(id), error);
      const isStuck = events.every((event) => waiting.has(event.id));
      onAnswer(answer, events);
      onChange();
      if (isStuck) {
        later();
        break;
      }
    }
    isSending = false;
  }

  function refuse(event, error) {
    if (!event) return;
    forget(event.id);
    state.refused.push({ event, error });
  }

  /** True if sending can go on at once. */
  function handle(error, events) {
    const isAboutBody = [400, 409, 413, 422].includes(error.status);
    if (isAboutBody && events.length > 1) {
      oneByOne = true; // one bad event must not hold up the others
      return true;
    }
    if (isAboutBody) {
      refuse(events[0], error.message);
      onChange();
      return true;
    }
    Object.assign(state, { isOffline: !error.status, error: error.message });
    later();
    onChange();
    return false;
  }

  function later() {
    timer = setTimeout(flush, wait);
    wait = Math.min(2 * wait, LONGEST_WAIT_MS);
  }

  return {
    state,
    get size() {
      return waiting.size;
    },
    has: (id) => waiting.has(id),
    /** Keep an event, and send it. */
    add(event) {
      const kept = { id: newId(), ...event };
      waiting.set(kept.id, kept);
      keep(kept);
      onChange();
      flush();
      return kept.id;
    },
    /** Send what is waiting now. */
    retry() {
      wait = FIRST_WAIT_MS;
      flush();
    },
    recall,
    clearRefused() {
      state.refused = [];
      onChange();
    },
    stop: () => clearTimeout(timer),
  };
}
