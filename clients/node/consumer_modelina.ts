// A receiver's program with the types that modelina generates from the AsyncAPI document.

import type { AccountingNotification, NotificationData } from './modelina';

/** The event of a notification, and the record that changed. */
export function read(body: string): { event: string; record: string } {
  const notification: AccountingNotification = JSON.parse(body);
  const data: NotificationData = JSON.parse(notification.JsonData);
  return { event: notification.EventType.SemanticName, record: data.CorrelationId };
}
