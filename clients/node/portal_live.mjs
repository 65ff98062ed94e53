// Live pages: how long after a delivery or a call the open page shows it.

import { LOCALES, SIZES, watched } from './browser.mjs';
import { Developer } from './portal_stage.mjs';
import { check } from './stage.mjs';
import { eventually } from './visitor.mjs';

const SAMPLES = 5;
/** A page that is not live never shows the row. The bounds leave room for a busy machine. */
const MEDIAN_MS_MAX = 1500;
const WORST_MS_MAX = 5000;

/** Notes when each row first appears. */
function noteRows() {
  const seen = new Map();
  globalThis.seenRows = seen;
  const look = () => {
    for (const row of document.querySelectorAll('main tr[data-row]')) {
      if (!seen.has(row.dataset.row)) seen.set(row.dataset.row, Date.now());
    }
  };
  look();
  new MutationObserver(look).observe(document.querySelector('main'), { childList: true, subtree: true });
}

/** The median and the largest of the times. */
export function summary(times) {
  const sorted = times.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)], worst: sorted.at(-1) };
}

/**
 * Opens the page, causes one row after the other, and compares the time in the row with the time when the page showed it.
 * `cause` returns what `find` looks for in the page's values: a row with its key and its time.
 */
async function lags(developer, path, cause, find) {
  await developer.open(path);
  await developer.page.locator('.live:not([hidden])').waitFor();
  await developer.page.evaluate(noteRows);
  const times = [];
  for (let number = 0; number < SAMPLES; number += 1) {
    const wanted = await cause(number);
    const row = await eventually(`a row for ${wanted}`, async () => find(await developer.values(path), wanted));
    const shown = await developer.page.waitForFunction((key) => globalThis.seenRows.get(key), String(row.key));
    times.push(Math.round(await shown.jsonValue() - Date.parse(row.time)));
    // The stream looks at the page at fixed times: the samples must not follow them.
    await new Promise((resolve) => setTimeout(resolve, 37 * number));
  }
  const { median, worst } = summary(times);
  check(`${path} is live`, median <= MEDIAN_MS_MAX && worst <= WORST_MS_MAX, times);
  return `median ${median} ms, worst ${worst} ms`;
}

/** `makeEvent` returns the sequence of a new event, `call` the id of a new request. */
export async function live(browser, { email, team, webhook }, { makeEvent, call }) {
  const context = await browser.newContext({ locale: LOCALES.en, viewport: SIZES.desk, reducedMotion: 'reduce' });
  const troubles = watched(context);
  const developer = new Developer(await context.newPage(), email, team);
  await developer.signIn();
  const bySequence = ({ deliveries }, sequence) => {
    const found = deliveries.find((one) => one.sequence === sequence && one.status === 'delivered');
    return found && { key: sequence, time: found.time };
  };
  const byRequest = ({ calls }, id) => {
    const found = calls.find((one) => one.requestId === id);
    return found && { key: found.number, time: found.time };
  };
  const deliveries = await lags(developer, `webhooks/${webhook}/deliveries`, makeEvent, bySequence);
  const calls = await lags(developer, 'calls', call, byRequest);
  check('nothing unusual on live pages', troubles.length === 0, troubles);
  await context.close();
  return `deliveries after ${deliveries}; requests after ${calls}`;
}
