// A complete receiver of Aldaba's webhooks, both families, with built-in modules of Node (18 or newer) only.
//
//     WEBHOOK_SECRET='the secret of the subscription' node receiver.mjs 8443
//
// It answers the handshakes, verifies every delivery, processes each event once, and answers before it processes it.
// A reverse proxy in front of it provides TLS and port 443.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const SECRET = process.env.WEBHOOK_SECRET;
if (!SECRET) {
  console.error("Set WEBHOOK_SECRET to the secret that was given at subscription.");
  process.exit(2);
}
const BODY_BYTES_MAX = 4 * 1024 * 1024;
const IDS_KEPT_MAX = 100_000;
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const seen = new Set();

// Both families sign alike: upper-case hexadecimal HMAC-SHA256 of the raw body.
function isSigned(headers, body) {
  const expected = Buffer.from(`sha256=${createHmac("sha256", SECRET).update(body).digest("hex").toUpperCase()}`);
  const given = Buffer.from(headers["svc-webhook-signature"] ?? headers["ms-signature"] ?? "");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

// Every attempt to deliver an event carries the same id.
function isNew(id) {
  if (seen.has(id)) return false;
  seen.add(id);
  if (seen.size > IDS_KEPT_MAX) seen.delete(seen.values().next().value);
  return true;
}

function doTheWork(event) {
  let told;
  if ("Entity" in event) {
    told = { kind: "invoicing", entity: event.Entity, id: event.EntityId, changes: event.Changes };
  } else {
    const change = JSON.parse(event.JsonData);
    told = {
      kind: "accounting",
      event: event.EventType.SemanticName,
      company: event.ExtraPartitionInformation.PartitionClientId,
      id: change.CorrelationId,
      sequenceVersion: change.SequenceVersion,
    };
  }
  // Here: GET the record by its id, in the context of its company, and store it.
  console.log(JSON.stringify(told));
}

async function read(request) {
  const pieces = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    // Read and discard the rest of a body that is too large, so that the response arrives; requestTimeout bounds this.
    if (bytes <= BODY_BYTES_MAX) pieces.push(piece);
  }
  return bytes <= BODY_BYTES_MAX ? Buffer.concat(pieces) : null;
}

async function answer(request) {
  const url = new URL(request.url, "http://receiver");
  if (request.method === "GET") {
    // Invoicing's handshake. Echo only a GUID, because anybody can call this.
    const asked = url.searchParams.get("echo") ?? "";
    return GUID.test(asked) ? [200, asked] : [400, "A GET is answered only with the query echo=<GUID>."];
  }
  if (request.method !== "POST") return [405, "Deliveries are posted here."];
  const body = await read(request);
  if (body === null) return [413, "The body is too large."];
  // Verify the raw bytes before parsing them.
  if (!isSigned(request.headers, body)) return [401, "The signature does not match."];
  const event = JSON.parse(body.toString("utf8"));
  if (event.EventType?.EventType === "Acknowledge") return [200, ""];
  // Answer first: the service waits at most 5 seconds for the response.
  if (isNew(request.headers["webhook-id"] ?? event.OutgoingId)) setImmediate(doTheWork, event);
  return [200, ""];
}

const server = createServer(async (request, response) => {
  let status, text;
  try {
    [status, text] = await answer(request);
  } catch {
    [status, text] = [400, "The request cannot be read."];
  }
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(text);
});
server.requestTimeout = 30_000;
server.listen(Number(process.argv[2] ?? 8443), "127.0.0.1", () => {
  console.log(JSON.stringify({ listening: server.address().port }));
});
