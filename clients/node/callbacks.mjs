// The client's callback server on localhost: records each callback by its state.

import { createServer } from 'node:http';

export class Callbacks {
  #server;
  #come = new Map();
  #quiet = new Set();
  #onward = new Map();

  static async listen(port) {
    const callbacks = new Callbacks();
    callbacks.#server = createServer((request, response) => callbacks.#take(request, response));
    // Chromium tries both addresses of localhost.
    await new Promise((resolve, reject) => {
      callbacks.#server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    return callbacks;
  }

  async #take(request, response) {
    const url = new URL(request.url, 'http://localhost');
    let body = '';
    for await (const piece of request) body += piece;
    const params = request.method === 'POST' ? new URLSearchParams(body) : url.searchParams;
    const state = params.get('state');
    if (state) this.#come.set(state, { method: request.method, path: url.pathname, params });
    if (this.#quiet.delete(state)) {
      // No content: the browser stays on its page.
      response.writeHead(204).end();
      return;
    }
    if (this.#onward.has(state)) {
      response.writeHead(302, { location: this.#onward.get(state) }).end();
      this.#onward.delete(state);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>App</title><p>Back.</p>');
  }

  /** Returns and forgets the callback with this state. */
  take(state) {
    const found = this.#come.get(state);
    this.#come.delete(state);
    return found;
  }

  /** Makes the next callback with this state leave the browser on its page. */
  stay(state) {
    this.#quiet.add(state);
  }

  /** Makes the next callback with this state redirect the browser. */
  forward(state, url) {
    this.#onward.set(state, url);
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
