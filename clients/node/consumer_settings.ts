// What the programs that use generated clients get, and what they return.

export interface Settings {
  baseUrl: string;
  key: string;
  token: string;
  company: string;
  receiver: string;
  /** Changes a customer, which the webhook then gets. */
  change: () => Promise<void>;
}

export interface Outcome {
  tradeNames: string[];
  webhookId: string;
  event: string;
  status: string;
  /** The notification, as the generated client read it. */
  body: string;
  /** The code of an error that the client was given. */
  refused: string;
}

export const EVENT = 'Svc.ACC.Customers.CustomerUpdated';
export const MISSING = '00000000-0000-4000-8000-000000000000';

/** Polls until there is a value. */
export async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('not within 20 s');
}

export function must<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`${what}: nothing`);
  return value;
}
