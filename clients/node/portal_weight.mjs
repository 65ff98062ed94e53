// The first visit: what the browser loads for the front page, the sign-in and the home of a team.

import { LOCALES, SIZES } from './browser.mjs';
import { Developer, ORIGIN } from './portal_stage.mjs';
import { check } from './stage.mjs';

const BYTES_MAX = 150 * 1024;

/** Returns the bytes that were transferred, headers included. */
export async function firstVisit(browser, { email, team }) {
  const context = await browser.newContext({ locale: LOCALES.es, viewport: SIZES.desk });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  let bytes = 0;
  const count = (answer) => { bytes += answer?.encodedDataLength ?? 0; };
  session.on('Network.loadingFinished', count);
  session.on('Network.requestWillBeSent', ({ redirectResponse }) => count(redirectResponse));
  await session.send('Network.enable');
  const developer = new Developer(page, email, team);
  await page.goto(`${ORIGIN}/`, { waitUntil: 'networkidle' });
  await developer.signIn();
  await page.locator('.live:not([hidden])').waitFor();
  check('the first visit loads something', bytes > 10_000, bytes);
  check(`the first visit loads at most ${BYTES_MAX} bytes`, bytes <= BYTES_MAX, bytes);
  await context.close();
  return bytes;
}
