// The TypeScript client of Aldaba: sign users in, read records, follow changes, manage webhooks and receive them.

export { Api, filterText, type ApiOptions, type Call, type PayrollOptions, type Resource } from "./api.js";
export * from "./errors.js";
export { Feed, receivedFromFeed, type FollowOptions } from "./feed.js";
export { resources } from "./generated/resources.js";
export type * from "./generated/schemas.js";
export type { HttpOptions, HttpResponse, RetryPolicy } from "./http.js";
export type { Identity } from "./id-token.js";
export { List, type ListOptions, type Page, type Snapshot } from "./list.js";
export * from "./receiver/index.js";
export {
  ACCOUNTING_SCOPES,
  PAYROLL_SCOPES,
  SignIn,
  type AuthorizationRequest,
  type CompletedSignIn,
  type PendingSignIn,
  type SignInOptions,
} from "./sign-in.js";
export { Session, Tokens, staticToken, type SessionOptions, type TokenSource, type TokenValues } from "./tokens.js";
export {
  History,
  InvoicingWebhooks,
  Webhooks,
  type DeliveryFilter,
  type InvoicingSubscription,
  type Subscription,
} from "./webhooks.js";
