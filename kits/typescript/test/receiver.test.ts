// Receivers: wrong signatures, tampered and replayed deliveries, handshakes, and the inbox.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import initSqlJs from "sql.js";
// By its own entry, without the rest of the package.
import {
  FileInboxStore, Inbox, InvalidNotificationError, MemoryInboxStore, Receiver, SignatureMismatch, SqlInboxStore, Verifier,
  parseNotification, type InboxStore, type ReceivedEvent, type SqlClient, type WebhookEvent,
} from "aldaba-client/receiver";

const SECRET = "a secret of the webhook";
const GUID = "4be1f7c2-0a58-4f53-8e52-97d1a3c60b14";

const contract = (body: string, secret = SECRET): string =>
  `sha256=${createHmac("sha256", secret).update(body).digest("hex").toUpperCase()}`;

function notification(members: { [name: string]: unknown } = {}, data: { [name: string]: unknown } = {}): string {
  return JSON.stringify({
    WebhookId: GUID, OutgoingId: "11111111-0a58-4f53-8e52-97d1a3c60b14", ConversationId: GUID, TenantId: "t",
    ExtraPartitionInformation: { PartitionClientId: "c", UserName: "maría" },
    EventType: { EventType: "CustomerUpdated", SemanticName: "Svc.ACC.Customers.CustomerUpdated" },
    Timestamp: 639_000_000_000_000_000, UserIdentifier: GUID,
    JsonData: JSON.stringify({ CorrelationId: "1", Version: "11/15/2026 08:30:00", SequenceVersion: "7", ...data }),
    ...members,
  });
}

test("the examples of RFC 4231 and of Standard Webhooks match", () => {
  const body = Buffer.from("what do ya want for nothing?");
  const signature = "sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843";
  assert.equal(new Verifier({ secret: "Jefe" }).verify({ "svc-webhook-signature": signature }, body), "accounting");
  assert.equal(new Verifier({ secret: ["other", "Jefe"] }).verify({ "MS-Signature": signature }, body), "invoicing");
  const standard = new Verifier({ secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", now: () => 1_614_265_330_000 });
  const headers = new Headers({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
  assert.equal(standard.verify(headers, Buffer.from('{"test": 2432232314}')), "standard");
});

test("wrong signatures are refused", () => {
  const verifier = new Verifier({ secret: SECRET });
  const body = Buffer.from(notification());
  const good = contract(notification());
  const reason = (headers: { [name: string]: string }, bytes: Uint8Array): string => {
    try {
      return verifier.verify(headers, bytes);
    } catch (error) {
      assert.ok(error instanceof SignatureMismatch);
      return error.reason;
    }
  };
  assert.equal(reason({ "svc-webhook-signature": good }, body), "accounting");
  for (const wrong of ["", good.toLowerCase(), good.slice(7), good.slice(0, -1), `${good}0`, contract(notification(), "other")]) {
    assert.equal(reason({ "svc-webhook-signature": wrong }, body), "wrong_signature", wrong);
  }
  for (const at of [0, body.length >> 1, body.length - 1]) {
    const tampered = Buffer.from(body);
    tampered[at] = (tampered[at] ?? 0) ^ 1;
    assert.equal(reason({ "svc-webhook-signature": good }, tampered), "wrong_signature");
  }
  assert.equal(reason({}, body), "missing_header");
});

test("a replayed request is refused by its time where only the Standard Webhooks signature counts", () => {
  const at = (now: number) => new Verifier({ secret: SECRET, onlyStandard: true, now: () => now * 1000 });
  const body = Buffer.from("{}");
  const mac = createHmac("sha256", SECRET).update(`${GUID}.1000.{}`).digest("base64");
  const headers = { "webhook-id": GUID, "webhook-timestamp": "1000", "webhook-signature": `v1,${mac}` };
  assert.equal(at(1300).verify(headers, body), "standard");
  assert.throws(() => at(1301).verify(headers, body), (error) => error instanceof SignatureMismatch && error.reason === "outside_tolerance");
  assert.throws(() => at(1000).verify({ ...headers, "webhook-id": "another" }, body), SignatureMismatch);
  assert.throws(() => at(1000).verify({ "svc-webhook-signature": contract("{}") }, body), SignatureMismatch);
});

test("the receiver answers handshakes, events and everything else", async () => {
  const events: WebhookEvent[] = [];
  const mismatches: string[] = [];
  let isBroken = false;
  const receiver = new Receiver({
    secret: SECRET,
    bodyBytesMax: 5_000,
    onEvent: (event) => {
      if (isBroken) throw new Error("the database is away");
      events.push(event);
    },
    onMismatch: ({ reason }) => mismatches.push(reason),
  });
  const call = async (method: string, body = "", headers: { [name: string]: string } = {}, url = "/hooks") =>
    receiver.handle({ method, url, headers, body: Buffer.from(body) });
  const post = (body: string, headers = { "svc-webhook-signature": contract(body) }) => call("POST", body, headers);

  const echoed = await call("GET", "", {}, `/api/webhooks/incoming/Invoicing?echo=${GUID}`);
  assert.deepEqual([echoed.status, echoed.body], [200, GUID]);
  for (const url of ["/hooks?echo=<script>", "//", "/hooks?echo", ""]) assert.equal((await call("GET", "", {}, url)).status, 400, url);
  assert.equal((await call("PUT")).status, 405);
  const acknowledge = notification({ EventType: { EventType: "Acknowledge", SemanticName: "x" }, ExtraPartitionInformation: {} });
  assert.equal((await post(acknowledge)).status, 200);
  assert.equal((await post(acknowledge, { "svc-webhook-signature": "sha256=00" })).status, 401);
  assert.equal((await post("[]")).status, 400);
  assert.equal((await post(`"${"x".repeat(5_000)}"`)).status, 413);
  assert.deepEqual([events, mismatches], [[], ["wrong_signature"]]);

  assert.equal((await post(notification())).status, 200);
  const body = '{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[{"Name":"n","Value":"v"}]}';
  const headers = { "ms-signature": contract(body), "webhook-id": GUID };
  const fetched = await receiver.fetchHandler(new Request("https://r.example/", { method: "POST", body, headers }));
  assert.equal(fetched.status, 200);
  const [accounting, invoicing] = events;
  assert.ok(accounting?.family === "accounting" && invoicing?.family === "invoicing");
  assert.deepEqual([accounting.company, accounting.correlationId, accounting.sequenceVersion], ["c", "1", "7"]);
  assert.deepEqual([invoicing.entity, invoicing.outgoingId, invoicing.changes], ["Bank", GUID, [{ name: "n", value: "v" }]]);
  isBroken = true;
  assert.equal((await post(notification())).status, 500, "so that the service delivers it again");
});

test("bodies that are no notification are refused", () => {
  for (const body of ["", "7", "{}", '{"EventType":{}}', notification({ JsonData: "no" }), notification({}, { SequenceVersion: 7 })]) {
    assert.throws(() => parseNotification({}, Buffer.from(body)), InvalidNotificationError, body);
  }
});

function event(outgoingId: string | undefined, sequenceVersion: string | undefined, id = "1"): ReceivedEvent {
  return { outgoingId, record: { tenant: "t", resource: "ACC.Customers", company: "c", id }, sequenceVersion };
}

/** What every store must do. */
async function checkStore<C>(store: InboxStore<C>): Promise<void> {
  const inbox = new Inbox(store);
  const kind = async (received: ReceivedEvent): Promise<string> => (await inbox.processOnce(received, () => "done")).kind;
  await assert.rejects(inbox.processOnce(event("a", "7"), () => Promise.reject(new Error("away"))), /away/);
  assert.equal(await kind(event("a", "7")), "processed", "a failed event can be processed again");
  assert.equal(await kind(event("a", "7")), "duplicate", "a replayed delivery");
  assert.equal(await kind(event(undefined, "7")), "superseded", "the same change from the feed");
  assert.equal(await kind(event("b", "6")), "superseded", "an older change");
  assert.equal(await kind(event("c", "10")), "processed", "compared as numbers");
  assert.equal(await kind(event("d", "9", "2")), "processed", "another record");
  assert.deepEqual([await kind(event("e", undefined)), await kind(event("e", undefined))], ["processed", "duplicate"]);
  let runs = 0;
  const together = [1, 2, 3].map(() => inbox.processOnce(event("f", "11"), () => (runs += 1)));
  const kinds = (await Promise.all(together)).map((outcome) => outcome.kind).sort();
  assert.deepEqual([kinds, runs], [["duplicate", "duplicate", "processed"], 1]);
  const all = new Inbox(store, { byIdOnly: true });
  assert.equal((await all.processOnce(event("g", "3"), () => 1)).kind, "processed", "old, but never processed");
}

test("the inbox in memory processes each event once", () => checkStore(new MemoryInboxStore()));

test("the inbox in a file survives a restart, and half a line", async () => {
  const folder = await mkdtemp(join(tmpdir(), "aldaba-inbox-"));
  try {
    const path = join(folder, "inbox.jsonl");
    const first = await FileInboxStore.open(path);
    await checkStore(first);
    await first.close();
    await appendFile(path, '{"outgoingId":"torn');
    const second = await FileInboxStore.open(path);
    const inbox = new Inbox(second);
    assert.equal((await inbox.processOnce(event("a", "7"), () => 1)).kind, "duplicate");
    assert.equal((await inbox.processOnce(event(undefined, "10"), () => 1)).kind, "superseded");
    assert.equal((await inbox.processOnce(event("new", "12"), () => 1)).kind, "processed");
    await second.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the inbox in SQL commits with the application's own writes", async () => {
  const SQL = await initSqlJs();
  const database = new SQL.Database();
  const client: SqlClient = {
    query: async (text, values = []) => {
      const statement = database.prepare(text);
      statement.bind(values as (string | null)[]);
      const rows = [];
      while (statement.step()) rows.push(statement.getAsObject());
      statement.free();
      return { rows };
    },
  };
  // SQLite has one connection here, so its transactions run one after the other.
  let last: Promise<unknown> = Promise.resolve();
  const store = new SqlInboxStore(<T>(work: (client: SqlClient) => Promise<T>): Promise<T> => {
    const run = last.catch(() => undefined).then(async () => {
      database.run("BEGIN");
      try {
        const result = await work(client);
        database.run("COMMIT");
        return result;
      } catch (error) {
        database.run("ROLLBACK");
        throw error;
      }
    });
    last = run;
    return run;
  });
  await store.createTables();
  await store.createTables();
  await checkStore(store);
  database.run("CREATE TABLE seen (id TEXT)");
  const inbox = new Inbox(store);
  const write = async (own: SqlClient, fails: boolean): Promise<void> => {
    await own.query("INSERT INTO seen VALUES ($1)", ["x"]);
    if (fails) throw new Error("away");
  };
  await assert.rejects(inbox.processOnce(event("z", "20"), (own) => write(own, true)), /away/);
  await inbox.processOnce(event("z", "20"), (own) => write(own, false));
  await inbox.processOnce(event("z", "20"), (own) => write(own, false));
  assert.deepEqual((await client.query("SELECT id FROM seen")).rows, [{ id: "x" }]);
});
