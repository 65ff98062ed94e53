// Codes of an authenticator app.

import { createHmac } from 'node:crypto';

export const STEP_SECONDS = 30;

/** The secret's bytes, from base32. */
export function decoded(base32) {
  const bits = [...base32.replaceAll(' ', '')].map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0')).join('');
  return Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)));
}

/** RFC 6238. */
export function code(secret, step) {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', secret).update(counter).digest();
  const number = hash.readUInt32BE(hash[19] & 0xf) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}
