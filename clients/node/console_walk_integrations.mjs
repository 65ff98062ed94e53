// Jobs on what integrations are made of: requests, teams, applications, subscriptions, tokens of the operator's API.

import { shot } from './browser.mjs';
import { check, world } from './stage.mjs';
import { newTeam, operate } from './visitor.mjs';

const { dev } = world;

/** A team of the development server's developer, with requests of every kind. */
async function ask(has) {
  const developer = dev.developer.email;
  has.team = await newTeam('Cuadro de mando');
  await operate('POST', `teams/${has.team}/members`, { developer, role: 'owner' });
  const asks = (what) => operate('POST', 'requests', { team: has.team, developer, note: 'Para el cuadro de mando de abril.', ...what });
  const client = { name: 'Cuadro de mando', redirectUris: [world.callback, 'https://app.example.com/callback'], products: ['accounting'] };
  has.requests = [
    (await asks({ client })).id,
    (await asks({ subscription: { name: 'Nóminas de abril', product: 'payroll' } })).id,
    (await asks({ subscription: { name: 'Contabilidad', product: 'accounting' } })).id,
  ];
}

/** Approves one request and refuses another with a reason. */
export async function decidesOnRequests({ operator, has }) {
  await ask(has);
  await operator.open();
  const badge = await operator.text(`nav a[href="${new URL(operator.url('requests')).pathname}"]`);
  check('the number of requests that wait', badge.includes('3'), badge);
  await operator.section('requests');
  await operator.enterRow('Cuadro de mando');
  await shot(operator.page, 'console/walk-request', { fullPage: true });
  await operator.does('approve');
  const approved = await operate('GET', `requests/${has.requests[0]}`);
  check('approved', approved.state === 'approved', approved);
  await operator.section('requests');
  await operator.enterRow('Nóminas de abril');
  await operator.does('refuse', { reason: 'Falta el contrato de nóminas.' });
  const refused = await operate('GET', `requests/${has.requests[1]}`);
  check('refused with a reason', refused.state === 'refused' && refused.reason.includes('contrato'), refused);
}

/** Makes a team and adds a developer to it. */
export async function managesTeams({ operator, has }) {
  await operator.section('teams');
  await operator.does('add', { name: 'Conciliación bancaria' });
  await operator.does('add_member', { member: dev.developer.email, role: 'member' });
  await operator.does('rename', { name: 'Conciliación' });
  check('the member', (await operator.row(dev.developer.email).count()) === 1);
  await operator.does('remove_member');
  has.emptyTeam = decodeURIComponent(new URL(operator.page.url()).pathname.split('/').at(-1));
}

/** Finds an application, makes a new secret for it, and disables and enables it. */
export async function managesClients({ operator, has }) {
  await operator.section('clients');
  await operator.filter({ q: 'cuadro' });
  has.client = await operator.enterRow('Cuadro de mando');
  await operator.gets('clientSecret', 'rotate', { overlap: 'hour' });
  await operator.press(operator.page.locator('main a.button'));
  await operator.does('disable');
  check('disabled', (await operate('GET', `clients/${has.client}`)).standing === 'disabled');
  await operator.does('enable');
}

/** Changes the limits of a subscription, and regenerates a key. */
export async function managesSubscriptions({ operator, has }) {
  const headers = { 'ocp-apim-subscription-key': dev.payroll_subscription.primary_key };
  const status = async (key) => {
    const answer = await fetch(`${dev.base_url}/payroll/api/companies`, { headers: { ...headers, ...key } });
    return (await answer.json()).message;
  };
  await operator.section('subscriptions');
  await operator.filter({ q: 'solo' });
  has.subscription = await operator.enterRow('Solo nóminas');
  await operator.does('change', { quota: '5000' });
  check('the quota', (await operate('GET', `subscriptions/${has.subscription}`)).dailyQuota === 5000);
  const before = await status();
  // The primary key is the first one.
  const key = await operator.gets('key', 'regenerate', { overlap: 'none' });
  check('the new key opens like the old one', (await status({ 'ocp-apim-subscription-key': key })) === before, before);
  check('the old key opens nothing', (await status()) !== before, before);
  await shot(operator.page, 'console/walk-key', { fullPage: true });
  await operator.press(operator.page.locator('main a.button'));
}

/** Makes a token of the operator's API, and revokes it. */
export async function managesTokens({ operator }) {
  await operator.section('tokens');
  const token = await operator.gets('token', 'add', { name: 'copias-nocturnas', role: 'viewer' });
  const status = async () => {
    const answer = await fetch(`${dev.operator_url}/operator/v1/tenants`, { headers: { authorization: `Bearer ${token}` } });
    return answer.status;
  };
  check('the token works', (await status()) === 200);
  await operator.press(operator.page.locator('main a.button'));
  await operator.does('revoke', { confirm: 'copias-nocturnas' }, 'main tr:has-text("copias-nocturnas")');
  check('the token is refused', (await status()) === 401);
}
