// The pages of the portal, for the gallery: with content, without any, and errors.

import { HOME, ORIGIN } from './portal_stage.mjs';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const SIGNATURE = { body: '{"a":1}', secret: 'not the secret', signature: 'v1,AAAA', id: 'x', timestamp: '1' };

/** For who is not signed in. */
export function anonymousPages() {
  return [
    { name: 'front', url: `${ORIGIN}/` },
    { name: 'error-codes', url: `${ORIGIN}/docs/errors` },
    { name: 'sign-in', url: `${HOME}login` },
    {
      name: 'sign-in-wrong', url: `${HOME}login`,
      act: async (developer, expect) => {
        expect(await developer.page.locator('main form.stack').first().evaluate((form) => form.action));
        await developer.page.locator('#username').fill('nobody@example.com');
        await developer.page.locator('#password').fill('wrong');
        await developer.press(developer.page.locator('main form.stack button').first());
      },
    },
  ];
}

/** For who belongs to no team. */
export function teamlessPages() {
  return [{ name: 'no-team', url: HOME }, { name: 'account', url: `${HOME}account` }];
}

/** The pages of a team that has nothing yet. */
export function emptyPages() {
  const paths = ['subscriptions', 'applications', 'sandbox', 'sandbox/receiver', 'calls', 'webhooks', 'notices'];
  return [{ name: 'home-empty' }, ...paths.map((path) => ({ name: `${path.replace('/', '-')}-empty`, path }))];
}

/** The pages of a team that has been through everything. */
export function fullPages({ subscription, client, webhook, delivered, failed, received }) {
  const application = `applications/${client}`;
  const deliveries = `webhooks/${webhook}/deliveries`;
  return [
    { name: 'home' },
    { name: 'home-menu', path: '#menu' },
    { name: 'subscriptions', path: 'subscriptions' },
    { name: 'subscription', path: `subscriptions/${subscription}` },
    { name: 'subscription-key', path: `subscriptions/${subscription}`, act: (developer) => developer.submit('reveal') },
    { name: 'applications', path: 'applications' },
    { name: 'application', path: application },
    { name: 'application-secret', path: application, act: (developer) => developer.submit('rotate') },
    { name: 'sign-in-tester', path: `${application}/sign-in` },
    { name: 'sign-in-tester-ready', path: `${application}/sign-in`, act: (developer) => developer.submit('begin') },
    { name: 'sandbox', path: 'sandbox' },
    { name: 'sandbox-token', path: 'sandbox', act: (developer) => developer.submit('token') },
    { name: 'sandbox-receiver', path: 'sandbox/receiver' },
    { name: 'sandbox-made', path: `sandbox/receiver?made=${delivered}` },
    { name: 'sandbox-received', path: `sandbox/received/${received}` },
    { name: 'calls', path: 'calls' },
    { name: 'calls-none', path: 'calls?request_id=none' },
    { name: 'webhooks', path: 'webhooks' },
    { name: 'webhooks-none', path: 'webhooks?url=none' },
    { name: 'webhook', path: `webhooks/${webhook}` },
    { name: 'webhook-week', path: `webhooks/${webhook}?span=week` },
    { name: 'deliveries', path: deliveries },
    { name: 'deliveries-none', path: `${deliveries}?record=none` },
    { name: 'delivery', path: `${deliveries}/${delivered}` },
    { name: 'delivery-failed', path: `${deliveries}/${failed}` },
    { name: 'events', path: 'events' },
    { name: 'events-none', path: 'events?q=none' },
    { name: 'event', path: 'events/Svc.ACC.Customers.CustomerCreated' },
    { name: 'reference', path: 'reference' },
    { name: 'reference-key', path: 'reference', act: (developer) => developer.submit('prefill') },
    { name: 'signature', path: 'signature' },
    {
      name: 'signature-differs', path: 'signature',
      act: (developer) => developer.submitWith(developer.page.locator('main form button[type=submit]'), SIGNATURE),
    },
    { name: 'notices', path: 'notices' },
    { name: 'team', path: 'team' },
    { name: 'account-of-team', url: `${HOME}account` },
    { name: 'error-not-found', path: `subscriptions/${NOBODY}`, status: 404 },
    { name: 'error-refused', path: `${deliveries}?status=odd`, status: 400 },
    { name: 'error-other-team', url: `${HOME}teams/${NOBODY}/`, status: 404 },
    { name: 'error-expired', path: 'signature', act: expire },
  ];
}

/** Submits a form of a session that is over. */
async function expire(developer, expect) {
  expect(developer.page.url());
  await developer.page.locator('main form [type=hidden]').first().evaluate((field) => { field.value = 'old'; });
  await developer.submitWith(developer.page.locator('main form button[type=submit]'), SIGNATURE);
}
