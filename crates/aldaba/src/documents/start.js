// Starts Swagger UI with the document that settings.json names. The browser stores nothing: input is lost with the
// page. `authorize` may contain values by security scheme (a key, a token) to fill in for a signed-in user.
'use strict';

(async () => {
  const read = async (address) => (await fetch(address, { cache: 'no-cache' })).json();
  const settings = await read('settings.json');
  const spec = await read(settings.document);
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
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: 'none',
    onComplete() {
      for (const [scheme, value] of Object.entries(settings.authorize)) ui.preauthorizeApiKey(scheme, value);
      document.documentElement.dataset.ready = 'yes';
    },
  });
})();
