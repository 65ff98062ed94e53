// Typed notifications of both families.

import { headerOf, type HeaderSource } from "./verify.js";

/**
 * A change of a record of the accounting family. It does not contain the record: read it by `correlationId` in the context of
 * `company`.
 */
export interface AccountingEvent {
  family: "accounting";
  /** The semantic name: `Svc.ACC.Customers.CustomerCreated`. */
  name: string;
  /** The id of the event for this webhook, the same in every attempt: it detects duplicates. */
  outgoingId: string;
  webhookId: string;
  /** The id of the change, the same for all webhooks. */
  conversationId: string;
  tenantId: string;
  /** The company that owns the record; for a company, its own id. */
  company: string;
  /** The user who made the change. */
  userName: string;
  /** The user who created the subscription. */
  userIdentifier: string;
  /** The id of the record. */
  correlationId: string;
  /** The version of the record: `MM/dd/yyyy HH:mm:ss`, UTC. */
  version: string;
  /** The log position of the change. It is `0` in a test event, which belongs to no record. */
  sequenceVersion: string;
  sourceInterface: string;
  /** The id of the write request that the change came with. */
  processId: string;
  sourceAction: string;
}

/** A change of an invoicing entity. */
export interface InvoicingEvent {
  family: "invoicing";
  /** The name of the entity, such as `SaleInvoice`. */
  entity: string;
  /** The id of the record. */
  entityId: string;
  /** The id of the event, from the header `webhook-id`; the same in every attempt. Undefined if a proxy removed it. */
  outgoingId: string | undefined;
  tenantId: string;
  /** The user who made the change. */
  user: string;
  /** The names and new values of the changed members; empty for a deletion. */
  changes: { name: string; value: string }[];
}

export type WebhookEvent = AccountingEvent | InvoicingEvent;

/** What a delivery contains: the handshake of the accounting family, which is answered with 200, or an event. */
export type Notification = { kind: "acknowledge"; webhookId: string } | { kind: "event"; event: WebhookEvent };

/** A body that is not a notification, although its signature may be valid. */
export class InvalidNotificationError extends Error {
  override readonly name = "InvalidNotificationError";

  constructor(reason: string) {
    super(`the body is not a notification: ${reason}`);
  }
}

type Members = { [name: string]: unknown };

/** Parses a body. Verify its signature first: this function does not. */
export function parseNotification(headers: HeaderSource, body: Uint8Array): Notification {
  const members = parseObject(Buffer.from(body).toString("utf8"), "it");
  if ("Entity" in members) return { kind: "event", event: invoicing(members, headers) };
  if (!isObject(members["EventType"])) {
    throw new InvalidNotificationError("it has neither the members of an accounting notification nor of an invoicing one");
  }
  if (members["EventType"]["EventType"] === "Acknowledge") {
    return { kind: "acknowledge", webhookId: text(members, "WebhookId") };
  }
  return { kind: "event", event: accounting(members, members["EventType"]) };
}

function accounting(members: Members, type: Members): AccountingEvent {
  const partition = isObject(members["ExtraPartitionInformation"]) ? members["ExtraPartitionInformation"] : {};
  const data = parseObject(text(members, "JsonData"), "JsonData");
  const sequenceVersion = text(data, "SequenceVersion");
  if (!/^\d{1,19}$/.test(sequenceVersion)) throw new InvalidNotificationError("SequenceVersion is not a number");
  return {
    family: "accounting",
    name: text(type, "SemanticName"),
    outgoingId: text(members, "OutgoingId"),
    webhookId: text(members, "WebhookId"),
    conversationId: text(members, "ConversationId"),
    tenantId: text(members, "TenantId"),
    company: textOr(partition, "PartitionClientId"),
    userName: textOr(partition, "UserName"),
    userIdentifier: textOr(members, "UserIdentifier"),
    correlationId: text(data, "CorrelationId"),
    version: textOr(data, "Version"),
    sequenceVersion,
    sourceInterface: textOr(data, "SvcSourceInterface"),
    processId: textOr(data, "SvcProcessId"),
    sourceAction: textOr(data, "SvcSourceAction"),
  };
}

function invoicing(members: Members, headers: HeaderSource): InvoicingEvent {
  const changes = Array.isArray(members["Changes"]) ? (members["Changes"] as unknown[]) : [];
  return {
    family: "invoicing",
    entity: text(members, "Entity"),
    entityId: text(members, "EntityId"),
    outgoingId: headerOf(headers, "webhook-id"),
    tenantId: text(members, "TenantId"),
    user: textOr(members, "User"),
    changes: changes.filter(isObject).map((change) => ({ name: text(change, "Name"), value: text(change, "Value") })),
  };
}

/** `Svc.ACC.Customers.CustomerCreated` → `ACC.Customers`; `Bank.Created` → `Bank`. */
export function resourceOf(semanticName: string): string {
  const parts = semanticName.split(".");
  if (parts.length === 4) return `${parts[1]}.${parts[2]}`;
  return parts.length === 2 ? (parts[0] ?? "") : semanticName;
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseObject(source: string, what: string): Members {
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw new InvalidNotificationError(`${what} is not JSON`);
  }
  if (!isObject(value)) throw new InvalidNotificationError(`${what} is not an object`);
  return value;
}

function text(members: Members, name: string): string {
  const value = members[name];
  if (typeof value !== "string") throw new InvalidNotificationError(`${name} is missing or not a text`);
  return value;
}

function textOr(members: Members, name: string): string {
  const value = members[name];
  return typeof value === "string" ? value : "";
}
