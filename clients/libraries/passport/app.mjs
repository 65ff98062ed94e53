// Signs users in with Passport and passport-openidconnect.

import express from 'express';
import session from 'express-session';
import passport from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';

const { APP, CLIENT_ID, CLIENT_SECRET, ISSUER, PORT, SESSION_SECRET } = process.env;

// docs: settings
passport.use(
  new OpenIDConnectStrategy(
    {
      issuer: ISSUER,
      authorizationURL: `${ISSUER}/connect/authorize`,
      tokenURL: `${ISSUER}/connect/token`,
      userInfoURL: `${ISSUER}/connect/userinfo`,
      clientID: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      callbackURL: `${APP}/callback`,
      scope: ['profile', 'email'],
      nonce: true,
    },
    (issuer, profile, context, idToken, done) => {
      const { id, displayName, emails } = profile;
      done(null, { sub: id, name: displayName, email: emails[0].value, idToken });
    },
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));
// docs: end

// docs: use
const app = express();
app.use(session({ secret: SESSION_SECRET, resave: false, saveUninitialized: false }));
app.use(passport.session());
app.get('/login', passport.authenticate('openidconnect'));
app.get('/callback', passport.authenticate('openidconnect', { successRedirect: '/', failureRedirect: '/failed' }));
app.get('/logout', (request, response, next) => {
  const query = new URLSearchParams({ id_token_hint: request.user.idToken, post_logout_redirect_uri: `${APP}/` });
  request.logout((error) => (error ? next(error) : response.redirect(`${ISSUER}/connect/endsession?${query}`)));
});
// docs: end

app.get('/', (request, response) => {
  const { sub, email, name } = request.user ?? {};
  response.json({ user: request.user ? { sub, email, name } : null });
});

app.listen(PORT, '127.0.0.1');
