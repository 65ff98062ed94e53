// Starts Swagger UI with the document that settings.json names. The browser stores nothing: input is lost with the
// page. `authorize` may contain values by security scheme (a key, a token) to fill in (`aldaba dev` gives them); so may the
// storage of the tab. `signIn` may contain a client for the sign-in on this page.
'use strict';

// Sign-in goes to the origin of this page. With another origin it cannot work, and the page does not offer it.
function prepareSignIn(spec, canSignIn) {
  const schemes = spec.components?.securitySchemes ?? {};
  const flow = schemes.signIn?.flows?.authorizationCode;
  if (!flow) return;
  if (canSignIn) {
    for (const name of ['authorizationUrl', 'tokenUrl', 'refreshUrl']) {
      if (flow[name]) flow[name] = location.origin + new URL(flow[name]).pathname;
    }
    return;
  }
  delete schemes.signIn;
  for (const path of Object.values(spec.paths)) {
    for (const operation of Object.values(path)) {
      if (operation.security) operation.security = operation.security.filter((schemes) => !schemes.signIn);
    }
  }
}

// The portal leaves a key or a token of the signed-in developer in the storage of the tab. They are taken out at once.
function handedOver() {
  const name = 'aldaba.authorize';
  try {
    const text = sessionStorage.getItem(name);
    sessionStorage.removeItem(name);
    const values = Object.entries(JSON.parse(text ?? '{}'));
    return Object.fromEntries(values.filter(([, value]) => typeof value === 'string'));
  } catch {
    return {};
  }
}

// Finds operations by tag, path, name and summary, in any case; Swagger UI itself looks at tags only.
const searchOperations = ({ React }) => ({
  fn: {
    opsFilter(tags, phrase) {
      const wanted = phrase.trim().toLowerCase();
      const has = (text) => (text ?? '').toLowerCase().includes(wanted);
      const isFound = (one) => has(one.get('path')) || ['summary', 'operationId'].some((name) => has(one.getIn(['operation', name])));
      const found = tags.map((tag, name) => (has(name) ? tag : tag.update('operations', (all) => all.filter(isFound))));
      return found.filter((tag) => tag.get('operations').size > 0);
    },
  },
  components: {
    FilterContainer({ layoutSelectors, layoutActions }) {
      const phrase = layoutSelectors.currentFilter();
      const field = React.createElement('input', {
        className: 'operation-filter-input',
        type: 'search',
        'aria-label': 'Search operations',
        placeholder: 'Search by name or path, such as customers or subscribe',
        value: typeof phrase === 'string' ? phrase : '',
        onChange: (event) => layoutActions.updateFilter(event.target.value),
      });
      return React.createElement('div', { className: 'filter-container', role: 'search' }, React.createElement('div', { className: 'wrapper' }, field));
    },
  },
});

// Gives controls of Swagger UI the names and the focus that people without a mouse need. They come and go.
function nameControls(page) {
  const names = { '#servers': 'Server', '.close-modal': 'Close', '.copy-to-clipboard button': 'Copy' };
  const apply = () => {
    for (const [selector, name] of Object.entries(names)) {
      for (const one of page.querySelectorAll(`${selector}:not([aria-label])`)) one.setAttribute('aria-label', name);
    }
    // Long examples scroll, also with the keyboard.
    for (const one of page.querySelectorAll('pre:not([tabindex])')) one.tabIndex = 0;
  };
  new MutationObserver(apply).observe(page, { childList: true, subtree: true });
}

(async () => {
  nameControls(document.getElementById('page'));
  const read = async (address) => (await fetch(address, { cache: 'no-cache' })).json();
  const authorize = handedOver();
  const settings = await read('settings.json');
  const returnTo = settings.signIn && new URL(settings.signIn.redirectUri);
  // A redirect URI must not name a loopback address, so a page at 127.0.0.1 moves to localhost; what was handed over would
  // be lost there.
  const isLoopback = ['127.0.0.1', '[::1]'].includes(location.hostname);
  const hasValues = Object.keys(authorize).length > 0;
  if (!hasValues && isLoopback && returnTo?.hostname === 'localhost' && returnTo.port === location.port) {
    location.replace(new URL(`.${location.hash}`, returnTo));
    return;
  }
  const spec = await read(settings.document);
  const canSignIn = returnTo?.origin === location.origin;
  prepareSignIn(spec, canSignIn);
  // Requests go to the origin of this page: the content security policy forbids the service's other names.
  const here = { url: new URL(settings.root, location.href).href.replace(/\/$/, ''), description: 'this server' };
  const others = (spec.servers ?? []).filter(({ url }) => url !== here.url);
  spec.servers = [here, ...others];
  const ui = SwaggerUIBundle({
    spec,
    domNode: document.getElementById('page'),
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: 'none',
    filter: true,
    plugins: [searchOperations],
    defaultModelsExpandDepth: 0,
    oauth2RedirectUrl: returnTo?.href,
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: 'none',
    onComplete() {
      if (canSignIn) {
        const { clientId, clientSecret, scopes } = settings.signIn;
        ui.initOAuth({ usePkceWithAuthorizationCodeGrant: true, clientId, clientSecret, scopes });
      }
      for (const [scheme, value] of Object.entries({ ...settings.authorize, ...authorize })) {
        ui.preauthorizeApiKey(scheme, value);
      }
      document.documentElement.dataset.ready = 'yes';
    },
  });
})();
