// Starts Swagger UI with the document that settings.json names. The browser stores nothing: input is lost with the
// page. `authorize` may contain values by security scheme (a key, a token) to fill in for a signed-in user.
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

(async () => {
  const read = async (address) => (await fetch(address, { cache: 'no-cache' })).json();
  const settings = await read('settings.json');
  const returnTo = settings.signIn && new URL(settings.signIn.redirectUri);
  // A redirect URI must not name a loopback address, so a page at 127.0.0.1 moves to localhost.
  const isLoopback = ['127.0.0.1', '[::1]'].includes(location.hostname);
  if (isLoopback && returnTo?.hostname === 'localhost' && returnTo.port === location.port) {
    location.replace(new URL(`.${location.hash}`, returnTo));
    return;
  }
  const spec = await read(settings.document);
  const canSignIn = returnTo?.origin === location.origin;
  prepareSignIn(spec, canSignIn);
  // Requests go to the origin of this page: the content security policy forbids the service's other names.
  const here = { url: location.origin, description: 'this server' };
  const others = (spec.servers ?? []).filter(({ url }) => url !== here.url);
  spec.servers = [here, ...others];
  const ui = SwaggerUIBundle({
    spec,
    domNode: document.getElementById('page'),
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    oauth2RedirectUrl: returnTo?.href,
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: 'none',
    onComplete() {
      if (canSignIn) ui.initOAuth({ usePkceWithAuthorizationCodeGrant: true });
      for (const [scheme, value] of Object.entries(settings.authorize)) ui.preauthorizeApiKey(scheme, value);
      document.documentElement.dataset.ready = 'yes';
    },
  });
})();
