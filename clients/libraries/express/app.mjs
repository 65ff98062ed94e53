// Signs users in with Express and express-openid-connect.

import express from 'express';
import oidc from 'express-openid-connect';

// docs: settings
const app = express();
app.use(
  oidc.auth({
    issuerBaseURL: process.env.ISSUER,
    baseURL: process.env.APP,
    clientID: process.env.CLIENT_ID,
    clientSecret: process.env.CLIENT_SECRET,
    secret: process.env.SESSION_SECRET, // of the session cookie
    authorizationParams: { response_type: 'code', scope: 'openid profile email offline_access' },
    authRequired: false,
    idpLogout: true, // /logout ends the session of the identity provider too
  }),
);
// docs: end

app.get('/', (request, response) => {
  response.json({ user: request.oidc.user ?? null });
});

// docs: use
app.get('/refresh', oidc.requiresAuth(), async (request, response) => {
  const before = request.oidc.refreshToken;
  await request.oidc.accessToken.refresh(); // the session cookie gets the new tokens
  response.json({ renewed: before !== request.oidc.refreshToken });
});
// docs: end

app.listen(process.env.PORT, '127.0.0.1');
