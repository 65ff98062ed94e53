// The page that the identity provider returns to when somebody signs in on the page of Swagger UI. It hands the code to that page,
// which has opened this window, and closes the window.
'use strict';

(() => {
  const params = new URLSearchParams(location.search);
  // The code must not stay in the address or in the history.
  history.replaceState(null, '', location.pathname);
  const request = window.opener?.swaggerUIRedirectOauth2;
  const refuse = (message) => {
    document.getElementById('text').textContent = message;
    request?.errCb({ authId: request.auth.name, source: 'auth', level: 'error', message });
  };
  if (!request) {
    refuse('This page belongs to a sign-in from the API reference. Close it and start there.');
  } else if (params.get('state') !== request.state) {
    refuse('The answer does not belong to this sign-in. Close this window and try again.');
  } else if (params.has('code')) {
    delete request.state;
    request.auth.code = params.get('code');
    request.callback({ auth: request.auth, redirectUrl: request.redirectUrl });
    window.close();
  } else {
    refuse(`${params.get('error')}: ${params.get('error_description')}`);
    window.close();
  }
  document.documentElement.dataset.ready = 'yes';
})();
