// An integrator's program with the client that @hey-api/openapi-ts generates.

import { EVENT, MISSING, must, until, type Outcome, type Settings } from './consumer_settings';
import {
  deleteCustomersWebhook,
  getCustomersWebhook,
  getCustomersWebhookDelivery,
  listCustomers,
  listCustomersWebhookDeliveries,
  subscribeToCustomers,
} from './hey-api';
import { createClient } from './hey-api/client';

export async function run(settings: Settings): Promise<Outcome> {
  const client = createClient({
    baseUrl: settings.baseUrl,
    auth: (scheme) => (scheme.type === 'apiKey' ? settings.key : settings.token),
  });
  const headers = { context: JSON.stringify({ clientId: settings.company }) };
  const listed = await listCustomers({ client, headers, query: { pageSize: 5 }, throwOnError: true });
  const subscribed = await subscribeToCustomers({
    client,
    body: { thirdPartyApplicationName: 'Panel', url: settings.receiver, secret: 's3cret', eventTypes: [EVENT] },
    throwOnError: true,
  });
  const path = { webhookId: subscribed.data.webhookId };
  await until(async () => (await getCustomersWebhook({ client, path })).data?.isActive || undefined);
  await settings.change();
  const delivery = await until(async () => {
    const { data } = await listCustomersWebhookDeliveries({ client, path, query: { status: 'delivered' } });
    return data?.find((one) => one.event === EVENT);
  });
  const outgoingId = must(delivery.outgoingId, 'outgoingId');
  const one = await getCustomersWebhookDelivery({ client, path: { ...path, outgoingId }, throwOnError: true });
  const none = await getCustomersWebhook({ client, path: { webhookId: MISSING } });
  await deleteCustomersWebhook({ client, path, throwOnError: true });
  return {
    tradeNames: listed.data.map((customer) => customer.tradeName),
    webhookId: path.webhookId,
    event: must(one.data.event, 'event'),
    status: one.data.status,
    body: must(one.data.body, 'body'),
    refused: none.error && 'code' in none.error ? none.error.code : '',
  };
}
