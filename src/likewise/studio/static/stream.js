/* The questions of one person: the one on the screen, those fetched ahead, and those done. The
   question on the screen is never exchanged for another one while somebody looks at it. */

export function createStream() {
  const done = new Set(); // ids of questions answered or skipped here
  const steps = []; // what undo takes back: {question, event}, event null for a skip
  const stream = { current: null, ahead: [], isWaiting: true, isOver: false };
  let lastTurn = 0; // of the last list of questions; the server counts them
  let mustAsk = false; // lists that were not asked for may be from before a restart

  const versions = ({ id, replaces = [] }) => [id, ...replaces];

  function next() {
    stream.ahead = stream.ahead.filter(({ id }) => !done.has(id));
    stream.current = stream.ahead.shift() ?? null;
    stream.isWaiting = stream.current === null;
  }

  return Object.assign(stream, {
    /**
     * Questions from the server; true if the screen has to be painted. Those that come with an answer
     * may be too few because the server still thinks: only isAll says that nothing is left.
     */
    take(questions, { isAsked = false, isAll = false, turn = lastTurn } = {}) {
      if (!isAsked && (mustAsk || turn < lastTurn)) return false; // lists cross on their way
      lastTurn = turn;
      mustAsk = false;
      const open = questions.filter((question) => !versions(question).some((id) => done.has(id)));
      const replaced = new Set(open.flatMap(({ replaces = [] }) => replaces));
      stream.ahead = stream.ahead.filter(({ id }) => !replaced.has(id)); // the wider version is here
      const before = stream.current;
      if (before === null) {
        stream.current = open[0] ?? null;
        stream.isOver = isAll && questions.length === 0;
        stream.isWaiting = stream.current === null && !stream.isOver;
      } else {
        // the same question with a group more, one that came up since: nothing on the screen moves
        stream.current = open.find(({ replaces = [] }) => replaces.includes(before.id)) ?? before;
      }
      const known = [stream.current, ...stream.ahead];
      const isOlder = open.length < known.length && open.every(({ id }, i) => id === known[i]?.id);
      if (isOlder) return stream.current !== before || stream.isOver;
      stream.ahead = open.filter(({ id }) => id !== stream.current?.id && id !== before?.id);
      return stream.current !== before || stream.isOver;
    },
    /** The current question is answered by an event, or skipped; the next is current at once. */
    finish(event, { waits = false } = {}) {
      versions(stream.current).forEach((id) => done.add(id)); // an answer to one answers all
      steps.push({ question: stream.current, event });
      if (waits) Object.assign(stream, { current: null, isWaiting: true });
      else next();
    },
    /** No reply comes: go on with what was fetched ahead; true if there is something. */
    goOn() {
      if (stream.current === null && stream.ahead.length) next();
      return stream.current !== null;
    },
    /** The last step, its question open again; null if none was made here. */
    stepBack() {
      const step = steps.pop() ?? null;
      if (step) {
        versions(step.question).forEach((id) => done.delete(id));
        if (stream.current) stream.ahead.unshift(stream.current);
        Object.assign(stream, { current: step.question, isWaiting: false, isOver: false });
      }
      return step;
    },
    /** Forget what was fetched; the next list that counts is one that is asked for. */
    restart() {
      mustAsk = true;
      Object.assign(stream, { current: null, ahead: [], isWaiting: true, isOver: false });
    },
  });
}
