// Starts Swagger UI over the document that settings.json names. Nothing is kept in the browser: what is
// typed in is gone with the page. `authorize` may hold values by the name of their security scheme (a key,
// a token) for who is signed in; they are filled in.
'use strict';

(async () => {
  const read = async (address) => (await fetch(address, { cache: 'no-cache' })).json();
  const settings = await read('settings.json');
  const spec = await read(settings.document);
  // Calls go where this page comes from: one service may have several names, and a browser takes only this one.
  const here = { url: location.origin, description: 'where this page comes from' };
  const others = (spec.servers ?? []).filter(({ url }) => url !== here.url);
  spec.servers = [here, ...others];
  const ui = SwaggerUIBundle({
    spec,
    domNode: document.getElementById('page'),
    deepLinking: true,
    displayRequestDuration: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: 'none',
    onComplete() {
      for (const [scheme, value] of Object.entries(settings.authorize)) ui.preauthorizeApiKey(scheme, value);
      document.documentElement.dataset.ready = 'yes';
    },
  });
})();
