/* The transport over HTTP. A notebook brings another one with the same functions (notebook.js). */

const TIMEOUT_MS = 15000;

export class TransportError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status; // 0: the server was not reached
  }
}

export function httpTransport(base = '') {
  async function request(path, options = {}) {
    let response;
    try {
      response = await fetch(base + path, {
        credentials: 'same-origin',
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...options,
      });
    } catch {
      throw new TransportError('The studio cannot be reached.', 0);
    }
    if (response.ok) return response;
    const body = await response.json().catch(() => ({}));
    throw new TransportError(body.error || `The studio answered ${response.status}.`, response.status);
  }

  async function read(response, how) {
    try {
      return await response[how]();
    } catch {
      throw new TransportError('The answer of the studio broke off.', 0);
    }
  }

  return {
    get: async (path) => read(await request(path), 'json'),
    bytes: async (path) =>
      read(await request(path, { signal: AbortSignal.timeout(4 * TIMEOUT_MS) }), 'arrayBuffer'),
    post: async (path, body) =>
      read(
        await request(path, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
        'json',
      ),
    /** The address of a picture, at once or as a promise. */
    picture: (path) => base + path,
    /** The address of a download. */
    download: (name) => `${base}/download/${name}`,
    /** Listen to progress and snapshots; returns a function that stops. */
    live({ onProgress, onQuestions, onSnapshot, onOpen, onLost }) {
      const source = new EventSource(`${base}/api/live`);
      source.addEventListener('progress', (event) => onProgress(JSON.parse(event.data)));
      source.addEventListener('questions', (event) => onQuestions(JSON.parse(event.data)));
      source.addEventListener('snapshot', (event) => onSnapshot(JSON.parse(event.data)));
      source.addEventListener('open', onOpen);
      source.addEventListener('error', onLost);
      return () => source.close();
    },
  };
}
