// The running program, from the file in ALDABA_DEV: sign-in through its pages, its ingest API, and a receiver.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Receiver, type ReceiverOptions } from "aldaba-client/receiver";

const SECONDS_MAX = 30;

/** The ready line of `aldaba dev --json`. */
export interface Dev {
  base_url: string;
  auth_url: string;
  operator_url: string;
  operator_token: string;
  subscription: { primary_key: string };
  payroll_subscription: { primary_key: string };
  client: { client_id: string; client_secret: string; redirect_uri: string };
  users: { email: string; password: string; tenants: string[] }[];
  tenants: { id: string; companies: string[] }[];
}

export function readDev(): Dev {
  const file = process.env["ALDABA_DEV"];
  assert.ok(file, "set ALDABA_DEV to a file with the ready line of `aldaba dev --json`, or run `cargo xtask kits`");
  return JSON.parse(readFileSync(file, "utf8")) as Dev;
}

/** Follows redirects and submits forms like a browser; returns the URL of the callback. */
export async function signInThroughPages(
  url: string,
  user: { email: string; password: string },
  tenant: string,
  callback: string,
): Promise<string> {
  const cookies = new Map<string, string>();
  const request = async (address: string, body?: URLSearchParams): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const options = body === undefined ? {} : { method: "POST", body };
    const response = await fetch(address, { ...options, redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  let response = await request(url);
  for (let steps = 0; steps < 12; steps += 1) {
    const location = response.headers.get("location");
    if (location !== null) {
      url = new URL(location, url).href;
      if (url.startsWith(callback)) return url;
      response = await request(url);
      continue;
    }
    const page = await response.text();
    assert.equal(response.status, 200, page);
    const [form = ""] = /<form[^>]*method="post"[\s\S]*?<\/form>/.exec(page) ?? [];
    const { names, fields } = inputs(form);
    if (names.has("password")) fields.set("username", user.email).set("password", user.password);
    if (names.has("tenant")) fields.set("tenant", tenant);
    url = new URL(attribute(form, "action"), url).href;
    response = await request(url, new URLSearchParams([...fields]));
  }
  throw new Error(`the sign-in does not end; it is at ${url}`);
}

/** The names of all inputs, and the values that a browser would send. */
function inputs(form: string): { names: Set<string>; fields: Map<string, string> } {
  const names = new Set<string>();
  const fields = new Map<string, string>();
  for (const [input] of form.matchAll(/<input[^>]*>/g)) {
    const name = attribute(input, "name");
    const isChoice = ["radio", "checkbox"].includes(attribute(input, "type"));
    names.add(name);
    if (name !== "" && (!isChoice || /\schecked\b/.test(input))) fields.set(name, attribute(input, "value"));
  }
  return { names, fields };
}

function attribute(tag: string, name: string): string {
  const [, value = ""] = new RegExp(`\\s${name}="([^"]*)"`).exec(tag) ?? [];
  return value.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** Sends changes to the ingest API; every one must be accepted. */
export async function ingest(dev: Dev, tenant: string, ...changes: unknown[]): Promise<void> {
  const response = await fetch(`${dev.operator_url}/operator/v1/tenants/${tenant}/changes`, {
    method: "POST",
    headers: { authorization: `Bearer ${dev.operator_token}`, "content-type": "application/x-ndjson" },
    body: changes.map((change) => JSON.stringify(change)).join("\n"),
  });
  const result = (await response.json()) as { accepted: number };
  assert.equal(result.accepted, changes.length, JSON.stringify(result));
}

export function company(id: string): unknown {
  const data = { vatName: "Panadería Ñandú", vatNumber: "", chartOfAccountId: 7, accountLength: 9 };
  return { area: "accounting", resource: "companies", action: "upsert", correlationId: id, data };
}

export function customer(companyId: string, id: string, tradeName: string): unknown {
  const data = { tradeName, accountCode: "430000001", accountCodeCorrelationId: "account" };
  return { area: "accounting", resource: "customers", company: companyId, action: "upsert", correlationId: id, data, user: "maría" };
}

export function bank(id: string, name: string): unknown {
  return { area: "invoicing", resource: "Bank", action: "upsert", correlationId: id, user: "maría", data: { name } };
}

/** A delivery as it came, for replays and changed copies. */
export interface RawDelivery {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A receiver on loopback that also records what came. */
export async function startReceiver(options: ReceiverOptions) {
  const receiver = new Receiver(options);
  const raw: RawDelivery[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => raw.push({ headers: request.headers, body: Buffer.concat(pieces) }));
    receiver.nodeListener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { origin, raw, close };
}

/** Polls until `look` returns something. */
export async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const end = Date.now() + SECONDS_MAX * 1000;
  while (Date.now() < end) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await sleep(50);
  }
  throw new Error(`${what}: not within ${SECONDS_MAX} s`);
}
