// Shared by the tests with Chromium: how it is started, what may not happen in it, screenshots and audits.

import axe from 'axe-core';
import { chromium } from 'playwright-core';

import { check, version, world } from './stage.mjs';

/** Whether pages are visited in all combinations of language, theme and size; else in some of them. */
export const IS_FULL = process.env.ALDABA_TEST_DEPTH === 'full';
export const SIZES = { desk: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
export const LOCALES = { es: 'es-ES', en: 'en-GB' };
// Error pages have an error status, which the console reports.
export const STATUS = /^Failed to load resource: the server responded with a status of 4/;
// A test that clicks or types before Chromium gets to the page's `autofocus` is not a fault of the page; two of them are, see `fits`.
const EARLY_FOCUS = 'Autofocus processing was blocked because a document already has a focused element.';
const LOCAL = new Set(['127.0.0.1', 'localhost']);
const FLAGS = [
  '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
  // No other host can be resolved.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

export function launch() {
  return chromium.launch({ executablePath: process.env.ALDABA_TEST_CHROMIUM, args: FLAGS, chromiumSandbox: false });
}

export function versions(browser) {
  return `${browser.version()} with playwright-core ${version('playwright-core')}, axe ${version('axe-core')}`;
}

/** Records forbidden requests, console messages and script errors of a context. `fine` matches allowed messages. */
export function watched(context, fine = STATUS) {
  context.setDefaultTimeout(20_000);
  const troubles = [];
  context.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol !== 'data:' && !LOCAL.has(hostname)) troubles.push(`asked elsewhere: ${request.url()}`);
  });
  context.on('console', (message) => {
    if (!fine.test(message.text()) && message.text() !== EARLY_FOCUS) troubles.push(`console: ${message.text()}`);
  });
  context.on('weberror', (error) => troubles.push(`script: ${error.error()}`));
  return troubles;
}

/** Chromium sometimes fails to take a screenshot and succeeds on a retry; no test depends on the image. */
export async function shot(page, path, more = {}) {
  for (let tries = 4; ; tries -= 1) {
    try {
      return await page.screenshot({ path: `${world.screenshots}/${path}.png`, animations: 'disabled', ...more });
    } catch (error) {
      if (tries === 1 || !error.message.includes('Unable to capture screenshot')) throw error;
      await page.bringToFront();
    }
  }
}

/** Checks that the page does not overflow horizontally, and names one element at most for the first focus. */
export async function fits(page, title, size) {
  const box = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  check(`${title} fits its width (${size})`, box[0] <= box[1], box);
  const focused = await page.locator('[autofocus]').count();
  check(`${title} asks for the focus once`, focused <= 1, focused);
}

/** Checks that axe finds nothing, or nothing that `isGrave`. */
export async function audit(page, where, isGrave = () => true) {
  if (!(await page.evaluate(() => Boolean(globalThis.axe)))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'], preload: false }));
  const told = violations.filter(isGrave).map(({ id, help, nodes }) => `${id} (${help}): ${nodes.map(({ html }) => html).join(' ')}`);
  check(`axe finds nothing: ${where}`, told.length === 0, told);
}
