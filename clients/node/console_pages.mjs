// The pages of the console, for the gallery: with content, without any, and errors.

import { HOME } from './console_stage.mjs';
import { world } from './stage.mjs';

const { dev } = world;
const NOBODY = '00000000-0000-4000-8000-000000000000';
const SECTIONS = [
  '', 'search', 'requests', 'tenants', 'users', 'developers', 'teams', 'operators', 'invitations', 'clients', 'subscriptions',
  'webhooks', 'tokens', 'audit', 'reads', 'doctor', 'configuration', 'backups', 'signing-keys',
];
/** Lists that can be searched. */
const SEARCHED = ['tenants', 'users', 'clients'];

const named = (path) => path.replaceAll('/', '-') || 'overview';

/** For who is not signed in. */
export function anonymousPages() {
  return [{ name: 'sign-in', url: `${HOME}login` }];
}

/** The pages of an installation that has nothing yet. */
export function emptyPages() {
  return [...SECTIONS, 'setup'].map((path) => ({ name: `${named(path)}-empty`, path }));
}

/** For an operator who only reads. */
export function viewerPages({ tenant, user }) {
  return [
    { name: 'viewer-tenant', path: `tenants/${tenant}` },
    { name: 'viewer-user', path: `users/${user}` },
    { name: 'viewer-backups', path: 'backups' },
    { name: 'viewer-signing-keys', path: 'signing-keys' },
  ];
}

/** The pages of the navigation. */
export function sectionPages() {
  return SECTIONS.map((path) => ({ name: named(path), path }));
}

/** The pages of an installation in use. */
export function fullPages(has) {
  const company = encodeURIComponent(has.company);
  const { tenant, disabledTenant, user, team, emptyTeam, client, subscription, webhook, failing, delivered, failed } = has;
  const [approved, refused, pending] = has.requests;
  return [
    ...sectionPages(),
    { name: 'overview-menu', path: '#menu' },
    { name: 'overview-week', path: '?span=week' },
    { name: 'setup', path: 'setup' },
    { name: 'search-user', path: `search?q=${dev.users[0].email}` },
    { name: 'search-request', path: `search?q=${has.request}` },
    { name: 'search-none', path: 'search?q=nadie@example.com' },
    { name: 'requests-all', path: 'requests?state=all' },
    { name: 'request-approved', path: `requests/${approved}` },
    { name: 'request-refused', path: `requests/${refused}` },
    { name: 'request', path: `requests/${pending}` },
    { name: 'tenant', path: `tenants/${tenant}` },
    { name: 'data', path: `tenants/${tenant}/data` },
    { name: 'data-company', path: `tenants/${tenant}/data?company=${company}` },
    { name: 'data-none', path: `tenants/${disabledTenant}/data` },
    { name: 'records', path: `tenants/${tenant}/data/customers?area=accounting&company=${company}` },
    { name: 'records-none', path: `tenants/${tenant}/data/customers?area=accounting&company=${company}&record=ninguno` },
    { name: 'record', path: has.record },
    { name: 'record-diff', path: has.diff },
    { name: 'record-notified', path: has.record.replace('?', '/notified?') },
    { name: 'tenant-disabled', path: `tenants/${disabledTenant}` },
    { name: 'user', path: `users/${dev.users[0].email}` },
    { name: 'user-disabled', path: `users/${user}` },
    { name: 'developer', path: `developers/${dev.developer.email}` },
    { name: 'operator', path: `operators/${has.viewer.id}` },
    { name: 'operator-you', path: `operators/${dev.operator.email}` },
    { name: 'invitations-any', path: 'invitations?state=any' },
    { name: 'invitations-operators', path: 'invitations?invite=operators' },
    { name: 'team', path: `teams/${team}` },
    { name: 'team-empty', path: `teams/${emptyTeam}` },
    { name: 'client', path: `clients/${client}` },
    { name: 'client-secret', path: `clients/${client}`, act: (operator) => operator.submit('rotate') },
    { name: 'subscription', path: `subscriptions/${subscription}` },
    { name: 'subscription-key', path: `subscriptions/${subscription}`, act: (operator) => operator.submit('regenerate') },
    ...SEARCHED.map((path) => ({ name: `${path}-none`, path: `${path}?q=ninguno` })),
    { name: 'webhooks-failing', path: 'webhooks?state=failing' },
    { name: 'webhooks-none', path: 'webhooks?host=nowhere.example' },
    { name: 'webhook', path: `webhooks/${webhook}` },
    { name: 'webhook-failing', path: `webhooks/${failing}` },
    { name: 'webhooks-bulk', path: 'webhooks/bulk?host=127.0.0.1' },
    { name: 'webhooks-bulk-replay', path: 'webhooks/bulk?host=127.0.0.1&action=replay' },
    { name: 'deliveries', path: `webhooks/${webhook}/deliveries` },
    { name: 'delivery', path: `webhooks/${failing}/deliveries/${delivered}` },
    { name: 'delivery-failed', path: `webhooks/${failing}/deliveries/${failed}` },
    { name: 'audit-none', path: 'audit?actor=nobody' },
    { name: 'audit-tenant', path: `audit?tenant=${disabledTenant}` },
    { name: 'reads-tenant', path: `reads?tenant=${tenant}` },
    { name: 'reads-none', path: `reads?tenant=${disabledTenant}` },
    { name: 'account', url: `${HOME}account` },
    { name: 'refused', path: 'tokens', act: refuse },
    { name: 'error-not-found', path: `tenants/${NOBODY}`, status: 404 },
    { name: 'error-no-page', path: 'no-such-page', status: 404 },
    { name: 'error-expired', path: 'tokens', act: expire },
  ];
}

/** A form that the service refuses. */
async function refuse(operator, expect) {
  expect(operator.page.url().split('?')[0]);
  await operator.submit('add', { name: 'con espacios no', role: 'viewer' });
}

/** Submits a form of a session that is over. */
async function expire(operator, expect) {
  expect(operator.page.url().split('?')[0]);
  const button = operator.page.locator('main button[value=add]');
  await button.locator('xpath=ancestor::form').locator('[name=token]').first().evaluate((field) => { field.value = 'old'; });
  await operator.submit('add', { name: 'expired' });
}
