// Receiving webhooks: signature verification, handshakes, typed events, and an inbox that processes each event once.

export {
  parseNotification,
  type AccountingEvent,
  type InvoicingEvent,
  type Notification,
  type WebhookEvent,
  InvalidNotificationError,
} from "./event.js";
export {
  FileInboxStore,
  Inbox,
  MemoryInboxStore,
  receivedFromEvent,
  type InboxOutcome,
  type InboxStore,
  type ReceivedEvent,
  type RecordKey,
} from "./inbox.js";
export { SqlInboxStore, type SqlClient, type SqlTransactions } from "./inbox-sql.js";
export { Receiver, type ReceivedRequest, type ReceiverOptions, type ReceiverResponse } from "./receiver.js";
export { SignatureMismatch, Verifier, type HeaderSource, type SignatureScheme, type VerifierOptions } from "./verify.js";
