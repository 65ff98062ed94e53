// Verifies the signatures of deliveries, over the raw bytes of the body and in constant time.

import { createHmac, timingSafeEqual } from "node:crypto";

/** Which signature matched: the contract's own for each family, or that of Standard Webhooks. */
export type SignatureScheme = "accounting" | "invoicing" | "standard";

/** Headers as `node:http` or `fetch` have them. */
export type HeaderSource = Headers | { readonly [name: string]: string | readonly string[] | undefined };

/** The contract's headers, by scheme. */
const CONTRACT_HEADERS = { accounting: "svc-webhook-signature", invoicing: "ms-signature" } as const;
const STANDARD_PREFIX = "whsec_";

/** No signature of a delivery is valid. Log the reason, and answer 401 without it: it would help an attacker. */
export class SignatureMismatch extends Error {
  override readonly name = "SignatureMismatch";

  constructor(readonly reason: "missing_header" | "wrong_signature" | "outside_tolerance") {
    const messages = {
      missing_header: "the request has no signature header; check that a proxy passes all headers on",
      wrong_signature: "no signature matches; check the secret, and that the body is verified byte by byte as it came",
      outside_tolerance: "the signature is of another time; check this machine's clock, or it is a replayed request",
    };
    super(messages[reason]);
  }
}

export interface VerifierOptions {
  /** The secret of the webhook, or several during a rotation. */
  secret: string | readonly string[];
  /** Accepts only the signature of Standard Webhooks, which covers the timestamp. */
  onlyStandard?: boolean;
  /** How far the timestamp of a Standard Webhooks signature may be from now. The default is 300. */
  toleranceSeconds?: number;
  /** The current time in milliseconds; for tests. */
  now?: () => number;
}

/**
 * Verifies deliveries. By default one valid signature of any scheme is enough. The contract's own signature does not cover a
 * timestamp, so a captured delivery can be replayed: process each event once with an `Inbox`, or set `onlyStandard`.
 */
export class Verifier {
  readonly #secrets: readonly string[];
  readonly #onlyStandard: boolean;
  readonly #toleranceSeconds: number;
  readonly #now: () => number;

  constructor(options: VerifierOptions) {
    this.#secrets = typeof options.secret === "string" ? [options.secret] : options.secret;
    if (this.#secrets.length === 0 || this.#secrets.includes("")) throw new TypeError("the secret is empty");
    this.#onlyStandard = options.onlyStandard ?? false;
    this.#toleranceSeconds = options.toleranceSeconds ?? 300;
    this.#now = options.now ?? Date.now;
  }

  /** Returns the scheme of the signature that matched, or throws a `SignatureMismatch`. */
  verify(headers: HeaderSource, body: Uint8Array): SignatureScheme {
    let isSigned = false;
    for (const scheme of this.#onlyStandard ? [] : (["accounting", "invoicing"] as const)) {
      const signature = headerOf(headers, CONTRACT_HEADERS[scheme]);
      if (signature === undefined) continue;
      isSigned = true;
      if (this.#secrets.some((secret) => isEqual(contractSignature(secret, body), signature))) return scheme;
    }
    const [signatures, id, timestamp] = ["webhook-signature", "webhook-id", "webhook-timestamp"].map((name) =>
      headerOf(headers, name),
    );
    if (signatures !== undefined && id !== undefined && timestamp !== undefined) {
      isSigned = true;
      const matches = this.#secrets.some((secret) => {
        const expected = standardSignature(secret, id, timestamp, body);
        return signatures.split(" ").some((candidate) => isEqual(expected, candidate));
      });
      if (matches && this.#isInTime(timestamp)) return "standard";
      if (matches) throw new SignatureMismatch("outside_tolerance");
    }
    throw new SignatureMismatch(isSigned ? "wrong_signature" : "missing_header");
  }

  #isInTime(timestamp: string): boolean {
    const nowSeconds = this.#now() / 1000;
    return /^\d{1,12}$/.test(timestamp) && Math.abs(nowSeconds - Number(timestamp)) <= this.#toleranceSeconds;
  }
}

export function headerOf(headers: HeaderSource, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = headers[name] ?? Object.entries(headers).find(([known]) => known.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : value?.[0];
}

function contractSignature(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex").toUpperCase()}`;
}

function standardSignature(secret: string, id: string, timestamp: string, body: Uint8Array): string {
  const mac = createHmac("sha256", standardKey(secret)).update(`${id}.${timestamp}.`).update(body);
  return `v1,${mac.digest("base64")}`;
}

/** After `whsec_`, a secret is the key in base64; any other secret is the key itself. */
function standardKey(secret: string): Buffer {
  const encoded = secret.startsWith(STANDARD_PREFIX) ? secret.slice(STANDARD_PREFIX.length) : "";
  const decoded = Buffer.from(encoded, "base64");
  return encoded !== "" && decoded.toString("base64") === encoded ? decoded : Buffer.from(secret);
}

function isEqual(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}
