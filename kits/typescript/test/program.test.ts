// Everything against the running program: sign-in, reads, feed, both webhook families, and the receiver with its inbox.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  ACCOUNTING_SCOPES, Api, ApiError, IdentityProviderError, Inbox, MemoryInboxStore, PAYROLL_SCOPES, Session, SignIn,
  SignInRequiredError, Tokens, filterText, receivedFromFeed, resources, staticToken, type InboxOutcome, type WebhookEvent,
} from "aldaba-client";
import { bank, company, customer, ingest, readDev, signInThroughPages, startReceiver, until } from "./program.js";

const dev = readDev();
const user = dev.users.find(({ tenants }) => tenants.length === 2) ?? assert.fail("dev has a user with two tenants");
const tenant = user.tenants[1] ?? "";
// New at each run, so that a server can be used again.
const COMPANY = `kit-typescript/Ñ ${Date.now()}`;
const BANK = `kit-typescript ${Date.now()}`;
const signIn = new SignIn({
  authUrl: dev.auth_url,
  clientId: dev.client.client_id,
  clientSecret: dev.client.client_secret,
  redirectUri: dev.client.redirect_uri,
});
const SCOPES = [...ACCOUNTING_SCOPES, ...PAYROLL_SCOPES];

async function signInAsUser() {
  const { url, pending } = signIn.start({ scopes: SCOPES, language: "en" });
  return signIn.finish(pending, await signInThroughPages(url, user, tenant, dev.client.redirect_uri));
}

let session: Session;
let api: Api;
const saved: Tokens[] = [];

before(async () => {
  const { tokens, identity } = await signInAsUser();
  assert.equal(identity?.sub, tokens.sub);
  session = new Session({ signIn, tokens, save: (renewed) => void saved.push(renewed) });
  api = new Api({ baseUrl: dev.base_url, subscriptionKey: dev.subscription.primary_key, tokens: session });
  const customers = Array.from({ length: 7 }, (_, number) => customer(COMPANY, `c/${number}`, `Café ${number}`));
  await ingest(dev, tenant, company(COMPANY), ...customers);
});

after(() => session?.signOut());

test("a refused token is renewed once for all callers, saved, and the calls succeed", async () => {
  const old = session.tokens;
  const broken = new Tokens({ ...old, accessToken: `${old.accessToken.slice(0, -4)}AAAA` });
  const renewing = new Session({ signIn, tokens: broken, save: (renewed) => void saved.push(renewed) });
  const client = new Api({ baseUrl: dev.base_url, subscriptionKey: dev.subscription.primary_key, tokens: renewing });
  await Promise.all([client.companies().page(1), client.customers(COMPANY).page(1), client.company(COMPANY)]);
  assert.equal(saved.length, 1);
  assert.notEqual(saved[0]?.refreshToken, old.refreshToken, "refresh tokens rotate");
  session = renewing;
  api = client;
});

test("another sign-in can be revoked, and its tokens end", async () => {
  const { tokens } = await signInAsUser();
  await signIn.revoke(tokens);
  await assert.rejects(signIn.refresh(tokens), IdentityProviderError);
  const ended = new Session({ signIn, tokens: new Tokens({ ...tokens, expiresAt: 0 }), save: () => undefined });
  await assert.rejects(ended.accessToken(), SignInRequiredError);
  assert.match(await signIn.signOutUrl(tokens), /\/connect\/endsession\?client_id=/);
});

test("lists are paged and typed, records are found in the context of their company", async () => {
  const companies = await api.companies({ pageSize: 2 }).all();
  assert.ok(companies.length >= 3 && companies.some(({ correlationId }) => correlationId === COMPANY));
  const names = (await api.customers(COMPANY, { pageSize: 3 }).all()).map(({ tradeName }) => tradeName);
  assert.deepEqual(names, Array.from({ length: 7 }, (_, number) => `Café ${number}`));
  assert.equal((await api.customer(COMPANY, "c/3"))?.tradeName, "Café 3");
  assert.equal(await api.customer(COMPANY, "nobody"), undefined);
  assert.equal(await api.customer("no company", "c/3"), undefined);
  const page = await api.customers(COMPANY, { pageSize: 3 }).page(1);
  assert.deepEqual([page.recordsTotal, page.pagesTotal, page.items.length], [7, 3, 3]);
  assert.equal(await api.customers(COMPANY, { pageSize: 3 }).pageIfChanged(1, page.etag ?? ""), undefined);
  assert.deepEqual(await api.records(resources.journals, COMPANY).all(), []);
});

test("payroll companies are filtered and ordered", async () => {
  const subscriptionKey = dev.payroll_subscription.primary_key;
  const payroll = new Api({ baseUrl: dev.base_url, subscriptionKey, tokens: session });
  const all = await payroll.payrollCompanies({ orderBy: "companyCode desc" }).all();
  assert.ok(all.length > 1 && (all[0]?.companyCode ?? 0) > (all.at(-1)?.companyCode ?? 0));
  const name = all[0]?.companyName ?? "";
  const found = await payroll.payrollCompanies({ filter: `companyName eq ${filterText(name)}` }).all();
  assert.ok(found.length >= 1 && found.every(({ companyName }) => companyName === name));
});

test("errors say what is wrong", async () => {
  const wrong = new Api({ baseUrl: dev.base_url, subscriptionKey: "wrong", tokens: staticToken("t") });
  const isError = (status: number, code: string) => (error: unknown) =>
    error instanceof ApiError && error.status === status && error.requestId !== "" && error.code === code;
  await assert.rejects(wrong.companies().page(1), isError(401, "invalid_subscription_key"));
  const path = "/accounting/api/companies?pageSize=0";
  await assert.rejects(api.call({ method: "GET", path }), isError(400, "invalid_parameter"));
});

test("every resource of the kit is served with these events", async () => {
  for (const resource of [resources.customers, resources.companies, resources.estimations, resources.integrationFiles]) {
    assert.deepEqual((await api.webhooks(resource).events()).sort(), [...resource.events].sort());
  }
  assert.equal(Object.keys(resources).length, 19);
});

test("the feed continues from a snapshot without a gap, and resumes", async () => {
  const { records, position } = await api.customers(COMPANY, { pageSize: 3 }).snapshot();
  assert.equal(records.length, 7);
  await ingest(dev, tenant, customer(COMPANY, "f/1", "Uno"), customer(COMPANY, "f/2", "Dos"), customer(COMPANY, "f/1", "Tres"));
  const feed = api.changes(resources.customers, COMPANY, position);
  for await (const change of feed) {
    assert.equal(change.correlationId, "f/1");
    break;
  }
  const rest = [];
  for await (const change of api.changes(resources.customers, COMPANY, feed.position)) rest.push(change);
  assert.deepEqual(rest.map(({ correlationId }) => correlationId), ["f/2", "f/1"]);
  assert.equal(rest[1]?.event, "Svc.ACC.Customers.CustomerUpdated");
});

test("accounting webhooks: handshake, verified delivery, exactly once, tampered copies, replay, history", async () => {
  const outcomes: [WebhookEvent, InboxOutcome<unknown>["kind"]][] = [];
  const inbox = new Inbox(new MemoryInboxStore());
  const secret = "a secret of the TypeScript kit";
  const receiver = await startReceiver({
    secret,
    onEvent: async (event) => {
      const { kind } = await inbox.processOnce(event, () => undefined);
      outcomes.push([event, kind]);
    },
  });
  const webhooks = api.webhooks(resources.customers);
  const id = await webhooks.subscribe({ applicationName: "Kit", url: `${receiver.origin}/hooks`, secret });
  try {
    await webhooks.waitUntilActive(id, 30_000);
    assert.equal((await webhooks.get(id))?.isActive, true);
    assert.ok((await webhooks.list()).some((webhook) => webhook.id === id));
    await ingest(dev, tenant, customer(COMPANY, "w/1", "Café «Ñ»"));
    const [event, kind] = await until("the delivery", () => outcomes[0]);
    assert.ok(event.family === "accounting" && kind === "processed");
    assert.equal(event.name, "Svc.ACC.Customers.CustomerCreated");
    assert.deepEqual([event.tenantId, event.company, event.correlationId], [tenant, COMPANY, "w/1"]);
    const read = await api.customer(event.company, event.correlationId);
    assert.deepEqual([read?.tradeName, read?.sequenceVersion], ["Café «Ñ»", event.sequenceVersion]);

    const sent = await until("the raw delivery", () => receiver.raw.at(-1));
    const again = async (body: Buffer): Promise<number> => {
      const headers = { "svc-webhook-signature": String(sent.headers["svc-webhook-signature"]) };
      return (await fetch(`${receiver.origin}/hooks`, { method: "POST", body: new Uint8Array(body), headers })).status;
    };
    const tampered = Buffer.from(sent.body.toString("utf8").replace("w/1", "w/2"));
    assert.equal(await again(tampered), 401);
    assert.equal(await again(sent.body), 200);
    assert.equal(outcomes.at(-1)?.[1], "duplicate", "a replayed delivery is processed once");

    const replay = await webhooks.history(id).replayOne(event.outgoingId);
    assert.equal(replay.webhookId, id);
    await until("the replay", () => outcomes[2]);
    assert.equal(outcomes[2]?.[1], "duplicate");
    for await (const change of api.changes(resources.customers, COMPANY, String(BigInt(event.sequenceVersion) - 1n))) {
      const outcome = await inbox.processOnce(receivedFromFeed(change, tenant, COMPANY), () => assert.fail("processed twice"));
      assert.equal(outcome.kind, "superseded", "the feed has the same change");
    }
    // The history follows the delivery within a moment.
    const delivery = await until("the delivery in the history", async () => {
      const found = await webhooks.history(id).delivery(event.outgoingId);
      return found?.status === "delivered" ? found : undefined;
    });
    assert.equal(delivery.body, sent.body.toString("utf8"));
    for await (const one of webhooks.history(id).deliveries({ status: "delivered" })) {
      assert.equal(one.status, "delivered");
    }
    assert.equal((await webhooks.history(id).health()).isActive, true);
    await webhooks.rotateSecret(id, `${secret}, the next`, 1);
    await webhooks.disable(id);
    assert.equal((await webhooks.get(id))?.isActive, false);
  } finally {
    await webhooks.delete(id);
    receiver.close();
  }
  assert.equal((await webhooks.get(id))?.isDeleted, true);
});

test("invoicing webhooks: echo, verified delivery, exactly once, test event, pause", async () => {
  const outcomes: [WebhookEvent, InboxOutcome<unknown>["kind"]][] = [];
  const inbox = new Inbox(new MemoryInboxStore());
  const secret = `whsec_${Buffer.from("the key of the TypeScript kit, 32").toString("base64")}`;
  const receiver = await startReceiver({
    secret,
    onlyStandard: true,
    onEvent: async (event) => void outcomes.push([event, (await inbox.processOnce(event, () => undefined)).kind]),
  });
  const webhooks = api.invoicingWebhooks();
  const uri = `${receiver.origin}/api/webhooks/incoming/Invoicing`;
  const { id } = await webhooks.subscribe({ uri, entity: "Bank", action: "Created", secret, applicationName: "Kit" });
  try {
    await webhooks.waitUntilEffective(id, 30_000);
    const position = (await api.companies().page(1)).position ?? "0";
    await ingest(dev, tenant, bank(BANK, "Banco «Ñ»"));
    const [event, kind] = await until("the delivery", () => outcomes[0]);
    assert.ok(event.family === "invoicing" && kind === "processed");
    assert.deepEqual([event.entity, event.entityId, event.tenantId], ["Bank", BANK, tenant]);
    assert.deepEqual(event.changes.find(({ name }) => name === "name")?.value, "Banco «Ñ»");
    assert.ok(event.outgoingId);
    const changes = await api.invoicingChanges(position).nextPage();
    assert.deepEqual(changes.map((change) => change.event), ["Bank.Created"]);
    await webhooks.history(id).replayOne(event.outgoingId);
    await until("the replay", () => outcomes[1]);
    assert.equal(outcomes[1]?.[1], "duplicate");
    await webhooks.history(id).test();
    await until("the test event", () => outcomes[2]);
    assert.equal((await webhooks.pause(id)).isPaused, true);
    assert.equal((await webhooks.resume(id)).isPaused, false);
  } finally {
    await webhooks.delete(id);
    receiver.close();
  }
  assert.equal(await webhooks.get(id), undefined);
});
