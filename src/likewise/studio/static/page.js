/* The page of its own: the studio over HTTP, with the keys of the whole document. */
import { mount } from './app.js';
import { httpTransport } from './http.js';

mount(document.getElementById('studio'), httpTransport(), { keysFrom: document });
