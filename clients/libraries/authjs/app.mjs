// Signs users in with Auth.js in Express. next-auth takes the same options.

import express from 'express';
import { ExpressAuth, getSession } from '@auth/express';

const { APP, CLIENT_ID, CLIENT_SECRET, ISSUER, PORT, SESSION_SECRET } = process.env;

// docs: settings
const options = {
  secret: SESSION_SECRET,
  trustHost: true,
  providers: [
    {
      id: 'aldaba',
      name: 'Aldaba',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: { params: { scope: 'openid profile email offline_access' } },
      checks: ['pkce', 'state', 'nonce'],
      profile: (claims) => ({ id: claims.sub, name: claims.name, email: claims.email }),
    },
  ],
  callbacks: {
    jwt({ token, account }) {
      if (!account) return token;
      tokens.set(account.providerAccountId, account);
      return { ...token, sub: account.providerAccountId };
    },
    session({ session, token }) {
      session.user.id = token.sub;
      return session;
    },
  },
};
// docs: end

// docs: use
const tokens = new Map(); // a table of the application's database

/** Auth.js leaves the renewal to the application. Its cookie is no place for refresh tokens, each of which works once:
 * getSession does not send the changed cookie to the browser. */
async function renew(sub) {
  const answer = await fetch(`${ISSUER}/connect/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: tokens.get(sub).refresh_token }),
  });
  if (!answer.ok) throw new Error(`no new tokens: ${answer.status} ${await answer.text()}`);
  tokens.set(sub, await answer.json());
}
// docs: end

// docs: urls
const app = express();
app.use(/^\/auth\/(.*)/, ExpressAuth(options)); // Express 5 refuses the pattern /auth/*
// A sign-out link is /auth/signout?callbackUrl=/signed-out; here the session of the identity provider ends too.
app.get('/signed-out', (request, response) => {
  const query = new URLSearchParams({ client_id: CLIENT_ID, post_logout_redirect_uri: `${APP}/` });
  response.redirect(`${ISSUER}/connect/endsession?${query}`);
});
// docs: end

app.get('/', async (request, response) => {
  const session = await getSession(request, options);
  const { id, email, name } = session?.user ?? {};
  response.json({ user: session ? { sub: id, email, name } : null });
});
app.get('/refresh', async (request, response) => {
  const sub = (await getSession(request, options)).user.id;
  const before = tokens.get(sub).refresh_token;
  await renew(sub);
  response.json({ renewed: before !== tokens.get(sub).refresh_token });
});
app.listen(PORT, '127.0.0.1');
