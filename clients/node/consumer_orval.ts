// An integrator's program with the functions that orval generates for fetch.

import { EVENT, MISSING, must, until, type Outcome, type Settings } from './consumer_settings';
import {
  deleteCustomersWebhook,
  getCustomersWebhook,
  getCustomersWebhookDelivery,
  listCustomers,
  listCustomersWebhookDeliveries,
  subscribeToCustomers,
} from './orval/api';

export async function run(settings: Settings): Promise<Outcome> {
  const headers = { 'Ocp-Apim-Subscription-Key': settings.key, Authorization: `Bearer ${settings.token}` };
  const context = JSON.stringify({ clientId: settings.company });
  const listed = await listCustomers({ context }, { pageSize: 5 }, { headers });
  if (listed.status !== 200) throw new Error(`customers: ${listed.status}`);
  const subscribed = await subscribeToCustomers(
    { thirdPartyApplicationName: 'Panel', url: settings.receiver, secret: 's3cret', eventTypes: [EVENT] },
    { headers },
  );
  if (subscribed.status !== 200) throw new Error(`the subscription: ${subscribed.status}`);
  const { webhookId } = subscribed.data;
  await until(async () => {
    const read = await getCustomersWebhook(webhookId, { headers });
    return (read.status === 200 && read.data.isActive) || undefined;
  });
  await settings.change();
  const delivery = await until(async () => {
    const read = await listCustomersWebhookDeliveries(webhookId, { status: 'delivered' }, { headers });
    return read.status === 200 ? read.data.find((one) => one.event === EVENT) : undefined;
  });
  const one = await getCustomersWebhookDelivery(webhookId, must(delivery.outgoingId, 'outgoingId'), { headers });
  if (one.status !== 200) throw new Error(`the delivery: ${one.status}`);
  const none = await getCustomersWebhook(MISSING, { headers });
  await deleteCustomersWebhook(webhookId, { headers });
  return {
    tradeNames: listed.data.map((customer) => customer.tradeName),
    webhookId,
    event: must(one.data.event, 'event'),
    status: one.data.status,
    body: must(one.data.body, 'body'),
    refused: none.status === 404 ? none.data.code : '',
  };
}
