// An integrator's program with the types that openapi-typescript generates, and openapi-fetch.

import createClient from 'openapi-fetch';

import { EVENT, MISSING, must, until, type Outcome, type Settings } from './consumer_settings';
import type { components, paths } from './openapi-typescript';

type Customer = components['schemas']['Customer'];

const WEBHOOKS = '/accounting/api/customers/webhooks';

export async function run(settings: Settings): Promise<Outcome> {
  const client = createClient<paths>({
    baseUrl: settings.baseUrl,
    headers: { 'Ocp-Apim-Subscription-Key': settings.key, Authorization: `Bearer ${settings.token}` },
  });
  const header = { context: JSON.stringify({ clientId: settings.company }) };
  const listed = await client.GET('/accounting/api/customers', { params: { header, query: { pageSize: 5 } } });
  const customers: Customer[] = must(listed.data, 'customers');
  const subscribed = await client.POST(`${WEBHOOKS}/subscribe`, {
    body: { thirdPartyApplicationName: 'Panel', url: settings.receiver, secret: 's3cret', eventTypes: [EVENT] },
  });
  const { webhookId } = must(subscribed.data, 'the subscription');
  const path = { webhookId };
  await until(async () => {
    const { data } = await client.GET(`${WEBHOOKS}/{webhookId}`, { params: { path } });
    return data?.isActive || undefined;
  });
  await settings.change();
  const delivery = await until(async () => {
    const query = { status: 'delivered' as const };
    const { data } = await client.GET(`${WEBHOOKS}/{webhookId}/deliveries`, { params: { path, query } });
    return data?.find((one) => one.event === EVENT);
  });
  const outgoingId = must(delivery.outgoingId, 'outgoingId');
  const one = await client.GET(`${WEBHOOKS}/{webhookId}/deliveries/{outgoingId}`, {
    params: { path: { webhookId, outgoingId } },
  });
  const none = await client.GET(`${WEBHOOKS}/{webhookId}`, { params: { path: { webhookId: MISSING } } });
  await client.DELETE(`${WEBHOOKS}/delete/{webhookId}`, { params: { path } });
  const { event, status, body } = must(one.data, 'the delivery');
  return {
    tradeNames: customers.map((customer) => customer.tradeName),
    webhookId,
    event: must(event, 'event'),
    status,
    body: must(body, 'body'),
    refused: must(none.error, 'the error').code,
  };
}
