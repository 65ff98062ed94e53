// The API client: sends every call with the subscription key, the access token and the context, and renews refused tokens.

import { ApiError } from "./errors.js";
import { Feed } from "./feed.js";
import { HttpClient, checkHeader, checkUrl, errorOf, parseJson, type HttpOptions, type HttpResponse } from "./http.js";
import { resources } from "./generated/resources.js";
import type { Account, AnyRecord, Company, Customer, PayrollCompany } from "./generated/schemas.js";
import { List, type ListOptions } from "./list.js";
import type { TokenSource } from "./tokens.js";
import { InvoicingWebhooks, Webhooks } from "./webhooks.js";

/** A resource of the accounting family; see `resources`. */
export interface Resource {
  /** The path of its list, such as `/accounting/api/customers`. */
  readonly path: string;
  /** The beginning of its events' semantic names, such as `Svc.ACC.Customers`. */
  readonly name: string;
  /** Whether its records belong to a company, rather than to the tenant. */
  readonly ofCompany: boolean;
  /** The semantic names of all its events. */
  readonly events: readonly string[];
}

/** The settings of an `Api`. */
export interface ApiOptions extends HttpOptions {
  /** The URL of the service without a path. */
  baseUrl: string;
  subscriptionKey: string;
  /** Provides access tokens: a `Session`, or `staticToken(…)`. */
  tokens: TokenSource;
}

/** The parameters of the list of payroll companies. */
export interface PayrollOptions extends ListOptions {
  /** For example `lastUpdate gt 2026-11-01 and contains(companyName,'Talleres')`; see `filterText`. */
  filter?: string;
  /** For example `lastUpdate desc,companyCode`. */
  orderBy?: string;
}

/** A call before its credentials are added. `path` may have a query. */
export interface Call {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  context?: string | undefined;
  body?: unknown;
  etag?: string | undefined;
  /** All calls but POST are, unless this says otherwise. */
  isIdempotent?: boolean;
}

const INVOICING = "/invoicing/api";

/** A client of the APIs for one user. */
export class Api {
  readonly #http: HttpClient;
  readonly #baseUrl: string;
  readonly #key: string;
  readonly #tokens: TokenSource;

  constructor(options: ApiOptions) {
    this.#http = new HttpClient(options);
    this.#baseUrl = checkUrl("the URL of the service", options.baseUrl);
    this.#key = checkHeader("the subscription key", options.subscriptionKey);
    this.#tokens = options.tokens;
  }

  /** The companies of the user's tenant. */
  companies(options?: ListOptions): List<Company> {
    return new List(this, resources.companies, undefined, options);
  }

  /** One company; undefined if the tenant has no such company. */
  company(id: string): Promise<Company | undefined> {
    return this.#find(resources.companies, undefined, id);
  }

  /** The customers of a company. */
  customers(company: string, options?: ListOptions): List<Customer> {
    return new List(this, resources.customers, company, options);
  }

  /** One customer; undefined if the customer or the company does not exist. */
  customer(company: string, id: string): Promise<Customer | undefined> {
    return this.#find(resources.customers, company, id);
  }

  /** The accounts of a company. */
  accounts(company: string, options?: ListOptions): List<Account> {
    return new List(this, resources.accounts, company, options);
  }

  /** One account; undefined if the account or the company does not exist. */
  account(company: string, id: string): Promise<Account | undefined> {
    return this.#find(resources.accounts, company, id);
  }

  /** The payroll companies of the user's tenant. They have no feed, so `snapshot` is not for them. */
  payrollCompanies({ filter, orderBy, ...options }: PayrollOptions = {}): List<PayrollCompany> {
    const query: { [name: string]: string } = {};
    if (filter !== undefined) query["filter"] = filter;
    if (orderBy !== undefined) query["OrderBy"] = orderBy;
    const resource = { path: "/payroll/api/companies", name: "", ofCompany: false, events: [] };
    return new List(this, resource, undefined, options, query);
  }

  /** The records of any resource of the accounting family. `company` is ignored where the tenant owns the records. */
  records(resource: Resource, company: string, options?: ListOptions): List<AnyRecord> {
    return new List(this, resource, company, options);
  }

  /** One record of any resource of the accounting family; undefined if it does not exist. */
  record(resource: Resource, company: string, id: string): Promise<AnyRecord | undefined> {
    return this.#find(resource, company, id);
  }

  /** The changes of a company's records after a log position. `company` is ignored where the tenant owns the records. */
  changes(resource: Resource, company: string | undefined, after: string): Feed {
    return new Feed(this, resource.path, contextOf(resource, company), after);
  }

  /** The changes of the tenant's invoicing entities after a log position. */
  invoicingChanges(after: string): Feed {
    return new Feed(this, INVOICING, undefined, after);
  }

  /** Manages the webhooks of a resource of the accounting family. */
  webhooks(resource: Resource): Webhooks {
    return new Webhooks(this, resource);
  }

  /** Manages the webhooks of invoicing. */
  invoicingWebhooks(): InvoicingWebhooks {
    return new InvoicingWebhooks(this, `${INVOICING}/webhooks`);
  }

  /** Sends any call and parses its response; for what this class has no method for. */
  async call<T>(call: Call): Promise<T> {
    return parseJson<T>(nameOf(call), await this.send(call));
  }

  /** Like `call`; undefined if the service answers 404. */
  async find<T>(call: Call): Promise<T | undefined> {
    try {
      return await this.call<T>(call);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Sends a call and returns a successful response, or 304 to a conditional call. Renews a refused token once. */
  async send(call: Call): Promise<HttpResponse> {
    const token = await this.#tokens.accessToken();
    let response = await this.#send(call, token);
    if (isTokenRefused(response)) response = await this.#send(call, await this.#tokens.replaceToken(token));
    const isSuccess = response.status >= 200 && response.status < 300;
    if (isSuccess || (response.status === 304 && call.etag !== undefined)) return response;
    throw errorOf(nameOf(call), response);
  }

  #find<T>(resource: Resource, company: string | undefined, id: string): Promise<T | undefined> {
    const path = `${resource.path}/${encodeURIComponent(id)}`;
    return this.find<T>({ method: "GET", path, context: contextOf(resource, company) });
  }

  #send(call: Call, token: string): Promise<HttpResponse> {
    const headers: { [name: string]: string } = {
      authorization: `Bearer ${checkHeader("the access token", token)}`,
      "ocp-apim-subscription-key": this.#key,
      "content-type": "application/json",
    };
    if (call.context !== undefined) headers["context"] = call.context;
    if (call.etag !== undefined) headers["if-none-match"] = checkHeader("the etag", call.etag);
    return this.#http.send({
      method: call.method,
      url: this.#baseUrl + call.path,
      headers,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      isIdempotent: call.isIdempotent ?? call.method !== "POST",
    });
  }
}

/** Escapes a text for a filter: `companyName eq ${filterText("O'Brien")}`. */
export function filterText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** The header `context` of a company. Characters that a header cannot have are escaped as in JSON. */
export function contextOf(resource: Resource, company: string | undefined): string | undefined {
  if (!resource.ofCompany || company === undefined) return undefined;
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify({ clientId: company }).replaceAll(/[^\x20-\x7e]/g, escape);
}

/** Method and path, without the query. */
function nameOf(call: Call): string {
  return `${call.method} ${call.path.split("?")[0] ?? ""}`;
}

/** Whether the service refused the access token, rather than the subscription key. */
function isTokenRefused(response: HttpResponse): boolean {
  return response.status === 401 && (response.headers.get("www-authenticate") ?? "").includes("invalid_token");
}
