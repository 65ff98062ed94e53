// Signs users in with oidc-client-ts, in the browser: a public client without a secret.

import { UserManager, WebStorageStateStore } from 'oidc-client-ts';

/** `issuer` and `clientId` are public; a build puts them into the page. */
export function createManager(issuer, clientId) {
  // docs: settings
  const manager = new UserManager({
    authority: issuer,
    client_id: clientId,
    redirect_uri: `${location.origin}/callback`,
    post_logout_redirect_uri: `${location.origin}/`,
    scope: 'openid profile email offline_access',
    userStore: new WebStorageStateStore({ store: sessionStorage }),
    automaticSilentRenew: true, // with the refresh token, a minute before the access token expires
  });
  // docs: end
  return manager;
}

// docs: use
/** What each page calls when it is loaded; returns the user, or null. */
export async function currentUser(manager) {
  if (location.pathname !== '/callback') return manager.getUser();
  const user = await manager.signinCallback(); // exchanges the code with PKCE and checks the id_token
  history.replaceState(null, '', '/'); // the code leaves the address bar
  return user; // user.profile has sub, email and name; user.access_token calls the APIs
}

export const signIn = (manager) => manager.signinRedirect();
export const renew = (manager) => manager.signinSilent();
export const signOut = (manager) => manager.signoutRedirect();
// docs: end
