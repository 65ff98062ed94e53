// Reads, retries and the feed without the program: what it answers rarely.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Api, ApiError, BelowFloorError, SignInRequiredError, UnreachableError, filterText, resources, staticToken } from "aldaba-client";
import { FakeNetwork, json, type SentRequest } from "./fixtures.js";

const ERROR = { statusCode: 429, message: "Too many requests.", requestId: "r-1", errors: [{ code: "rate_limited", message: "x" }] };

function api(answer: (request: SentRequest, number: number) => Response, retry = { attemptsMax: 3, waitMaxMs: 5_000 }) {
  const network = new FakeNetwork(answer);
  const tokens = staticToken("token");
  return { network, api: new Api({ baseUrl: "https://api.example.com/", subscriptionKey: "key", tokens, fetch: network.fetch, retry }) };
}

const page = (items: unknown[], totalPages: number): Response =>
  json(items, 200, { "x-pagination": JSON.stringify({ totalCount: 3, totalPages }), "x-sequence-version": "40", etag: '"e"' });

test("lists follow all pages, with key, token and context", async () => {
  const { network, api: client } = api((_, number) => page(number === 1 ? [{ n: 1 }, { n: 2 }] : [{ n: 3 }], 2));
  assert.deepEqual(await client.customers("Ñandú\n", { pageSize: 2 }).all(), [{ n: 1 }, { n: 2 }, { n: 3 }]);
  const [first, second] = network.requests;
  assert.equal(first?.url.href, "https://api.example.com/accounting/api/customers?pageNumber=1&pageSize=2");
  assert.equal(second?.url.searchParams.get("pageNumber"), "2");
  assert.equal(first?.headers.get("authorization"), "Bearer token");
  assert.equal(first?.headers.get("ocp-apim-subscription-key"), "key");
  assert.equal(first?.headers.get("context"), '{"clientId":"\\u00d1and\\u00fa\\n"}');
  assert.throws(() => client.customers("c", { pageSize: 0 }), /page size/);
});

test("companies take no context, and ids are escaped", async () => {
  const { network, api: client } = api(() => json({}, 404));
  assert.equal(await client.company("a/b"), undefined);
  assert.equal(network.requests[0]?.url.pathname, "/accounting/api/companies/a%2Fb");
  assert.equal(network.requests[0]?.headers.has("context"), false);
});

test("429 and 503 are retried after Retry-After, also for POST", async () => {
  const { network, api: client } = api((_, number) =>
    number === 1 ? json(ERROR, 429, { "retry-after": "0" }) : number === 2 ? json({}, 503, { "retry-after": "0" }) : json({ number: 1 }),
  );
  await client.webhooks(resources.customers).history("id").test();
  assert.equal(network.requests.length, 3);
});

test("a longer Retry-After than allowed, and the last attempt, throw the error of the service", async () => {
  for (const seconds of ["6", "0"]) {
    const { network, api: client } = api(() => json(ERROR, 429, { "retry-after": seconds }));
    const error = await client.companies().page(1).then(() => assert.fail("no error"), (error: unknown) => error);
    assert.ok(error instanceof ApiError && error.hasCode("rate_limited") && error.isTemporary);
    assert.equal(error.code, "rate_limited");
    assert.equal(error.retryAfterSeconds, Number(seconds));
    assert.match(error.message, /GET \/accounting\/api\/companies: 429 Too many requests.*request r-1/);
    assert.equal(network.requests.length, seconds === "6" ? 1 : 3);
  }
});

test("without a response, only idempotent calls are retried", async () => {
  const broken = (): Response => {
    throw new TypeError("fetch failed", { cause: new Error("connection refused") });
  };
  const reading = api(broken);
  await assert.rejects(reading.api.companies().page(1), (error) => error instanceof UnreachableError && /refused/.test(error.message));
  assert.equal(reading.network.requests.length, 3);
  const posting = api(broken);
  await assert.rejects(posting.api.webhooks(resources.customers).history("id").test(), UnreachableError);
  assert.equal(posting.network.requests.length, 1);
});

test("a refused token is replaced once; a refused key is not", async () => {
  const challenge = { "www-authenticate": 'Bearer error="invalid_token"' };
  const { network, api: client } = api(() => json({ ...ERROR, statusCode: 401 }, 401, challenge));
  await assert.rejects(client.companies().page(1), SignInRequiredError);
  const key = api(() => json({ ...ERROR, statusCode: 401 }, 401));
  await assert.rejects(key.api.companies().page(1), (error) => error instanceof ApiError && error.status === 401);
  assert.equal(network.requests.length + key.network.requests.length, 2);
});

test("the feed yields all changes, resumes at its position, and says when the log is too short", async () => {
  const change = (number: number) => ({ sequenceVersion: String(number), event: "Svc.ACC.Customers.CustomerUpdated" });
  const { network, api: client } = api((request) => {
    const after = Number(request.url.searchParams.get("after"));
    return json(after < 10 ? { ...ERROR, message: "The feed begins after 10." } : after < 12 ? [change(after + 1)] : [], after < 10 ? 410 : 200);
  });
  const feed = client.changes(resources.customers, "c", "10");
  for await (const { sequenceVersion } of feed) {
    if (sequenceVersion === "11") break;
  }
  assert.equal(feed.position, "11");
  const rest = [];
  for await (const one of client.changes(resources.customers, "c", feed.position)) rest.push(one.sequenceVersion);
  assert.deepEqual(rest, ["12"]);
  assert.equal(network.requests[0]?.headers.get("context"), '{"clientId":"c"}');
  await assert.rejects(client.invoicingChanges("3").nextPage(), (error) => error instanceof BelowFloorError && /begins after 10/.test(error.message));
});

test("following the feed waits for changes and ends by its signal", async () => {
  const end = new AbortController();
  const { api: client } = api((_, number) => json(number === 2 ? [{ sequenceVersion: "1", event: "Bank.Created" }] : []));
  const seen = [];
  for await (const change of client.invoicingChanges("0").follow({ pauseMs: 1, signal: end.signal })) {
    seen.push(change.event);
    end.abort();
  }
  assert.deepEqual(seen, ["Bank.Created"]);
});

test("a snapshot is read again if a record was deleted meanwhile", async () => {
  let deletions = 1;
  const { network, api: client } = api((request) => {
    if (!request.url.pathname.endsWith("/changes")) return page([{ n: 1 }], 1);
    if (request.url.searchParams.get("after") !== "40" || deletions === 0) return json([]);
    deletions -= 1;
    return json([{ sequenceVersion: "41", event: "Svc.ACC.Journals.JournalDeleted" }]);
  });
  const { records, position } = await client.records(resources.journals, "c").snapshot();
  assert.deepEqual([records.length, position], [1, "40"]);
  assert.equal(network.requests.filter((request) => !request.url.pathname.endsWith("/changes")).length, 2);
});

test("a page that has not changed is not read again", async () => {
  const { network, api: client } = api((request) => (request.headers.has("if-none-match") ? new Response(null, { status: 304 }) : page([], 0)));
  const { etag } = await client.companies().page(1);
  assert.equal(await client.companies().pageIfChanged(1, etag ?? ""), undefined);
  assert.equal(network.requests[1]?.headers.get("if-none-match"), '"e"');
});

test("deliveries follow the query of the link, never its host", async () => {
  const link = { link: '<https://evil.example/x?cursor=2>; rel="next"' };
  const { network, api: client } = api((_, number) => (number === 1 ? json([{ n: 1 }], 200, link) : json([{ n: 2 }])));
  const all = [];
  for await (const delivery of client.invoicingWebhooks().history("id").deliveries({ status: "failed" })) all.push(delivery);
  assert.equal(all.length, 2);
  assert.equal(network.requests[0]?.url.search, "?pageSize=100&status=failed");
  assert.equal(network.requests[1]?.url.href, "https://api.example.com/invoicing/api/webhooks/id/deliveries?cursor=2");
});

test("plain http is refused beyond loopback, and keys that are no header", () => {
  const tokens = staticToken("t");
  assert.throws(() => new Api({ baseUrl: "http://api.example.com", subscriptionKey: "k", tokens }), /https/);
  assert.throws(() => new Api({ baseUrl: "https://a.example", subscriptionKey: "secret\n", tokens }), (error: Error) => !error.message.includes("secret"));
  assert.equal(filterText("O'Brien"), "'O''Brien'");
});
