// The pages of the console, for the gallery: with content, without any, and errors.

import { HOME } from './console_stage.mjs';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const SECTIONS = [
  '', 'search', 'requests', 'tenants', 'users', 'developers', 'teams', 'operators', 'invitations', 'clients', 'subscriptions',
  'webhooks', 'tokens', 'audit', 'reads', 'doctor', 'configuration', 'backups', 'signing-keys',
];

const named = (path) => path.replaceAll('/', '-') || 'overview';

/** For who is not signed in. */
export function anonymousPages() {
  return [{ name: 'sign-in', url: `${HOME}login` }];
}

/** The pages of an installation that has nothing yet. */
export function emptyPages() {
  return [...SECTIONS, 'setup'].map((path) => ({ name: `${named(path)}-empty`, path }));
}
