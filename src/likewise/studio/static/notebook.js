/* The studio in a notebook, through anywidget: the same modules, with messages instead of HTTP. */
import { mount } from './app.js';
import { TransportError } from './http.js';

const ANSWER_MS = 30000; // a question takes 10 s at most; a cell that runs makes everything wait

/** Requests and answers as messages of a widget's model: {id, method, path, body} and {id, status, json}. */
function messageTransport(model) {
  const waiting = new Map();
  const listeners = new Set();
  const pictures = new Map();
  let lastId = 0;

  function onMessage(content, buffers) {
    if (content.live) {
      for (const listener of listeners) listener(content);
      return;
    }
    const request = waiting.get(content.id);
    if (!request) return;
    waiting.delete(content.id);
    if (content.status >= 400) {
      request.reject(
        new TransportError(content.json?.error ?? `The studio answered ${content.status}.`, content.status),
      );
    } else request.resolve({ content, buffer: buffers?.[0] });
  }
  model.on('msg:custom', onMessage);

  function ask(method, path, body = null) {
    return new Promise((resolve, reject) => {
      const id = (lastId += 1);
      waiting.set(id, { resolve, reject });
      setTimeout(() => {
        if (waiting.delete(id))
          reject(new TransportError('The notebook does not answer: a cell may be running.', 0));
      }, ANSWER_MS);
      model.send({ id, method, path, body });
    });
  }

  async function bytes(path) {
    const { buffer } = await ask('GET', path);
    return new Uint8Array(buffer.buffer ?? buffer, buffer.byteOffset ?? 0, buffer.byteLength).slice().buffer;
  }

  return {
    get: async (path) => (await ask('GET', path)).content.json,
    post: async (path, body) => (await ask('POST', path, body)).content.json,
    bytes,
    picture(path) {
      if (!pictures.has(path)) {
        pictures.set(
          path,
          bytes(path).then((buffer) => URL.createObjectURL(new Blob([buffer]))),
        );
      }
      return pictures.get(path);
    },
    download: null, // a notebook writes files in Python
    live({ onProgress, onQuestions, onSnapshot, onOpen }) {
      const hear = { progress: onProgress, questions: onQuestions, snapshot: onSnapshot };
      const listener = ({ live, data }) => hear[live]?.(data);
      listeners.add(listener);
      onOpen();
      return () => listeners.delete(listener);
    },
    close() {
      model.off('msg:custom', onMessage);
      for (const address of pictures.values()) address.then(URL.revokeObjectURL, () => {});
    },
  };
}

function render({ model, el }) {
  const transport = messageTransport(model);
  const element = document.createElement('div');
  element.tabIndex = -1; // its keys work while the focus is inside
  el.append(element);
  const unmount = mount(element, transport);
  return () => {
    unmount();
    transport.close();
  };
}

export default { render };
