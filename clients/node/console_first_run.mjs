// The first operator of a new installation: from the link in the log to the first steps.

import { LOCALES, SIZES, shot, watched } from './browser.mjs';
import { Operator } from './console_stage.mjs';
import { check, world } from './stage.mjs';
import { newAddress } from './visitor.mjs';

/** The checklist: public address, TLS, mail, backup, first tenant, first client. */
const STEPS = 6;

/** Returns the person, for the gallery of pages without content. */
export async function firstRun(browser) {
  const link = world.site.first_operator;
  const home = new URL('.', link).href;
  const context = await browser.newContext({ locale: LOCALES.es, viewport: SIZES.desk, reducedMotion: 'reduce' });
  const troubles = watched(context);
  const person = { home, email: newAddress('olga') };
  const operator = new Operator(await context.newPage(), person);
  const { page } = operator;
  try {
    await page.goto(link);
    await shot(page, 'console/first-operator', { fullPage: true });
    // Nobody has invited this person by name.
    await page.locator('#email').fill(person.email);
    await operator.accept();
    check('the first steps', page.url().split('?')[0] === operator.url('setup'), page.url());
    await page.locator(`.checklist > li:nth-child(${STEPS})`).waitFor();
    const ticks = () => page.locator('.checklist > li.done').count();
    const before = await ticks();
    check('steps that are left', before < STEPS - 2, before);
    // The checklist stays open and ticks the step by itself.
    const other = new Operator(await context.newPage(), person);
    await other.open('tenants');
    await other.does('add', { name: 'Asesoría Peñalver' });
    await page.locator('.checklist > li.done').nth(before).waitFor();
    check('one more step', (await ticks()) === before + 1, before);
    await other.does('erase', { confirm: decodeURIComponent(new URL(other.page.url()).pathname.split('/').at(-1)) });
  } catch (error) {
    await shot(page, 'console/FAILED-first-run', { fullPage: true }).catch(() => {});
    throw new Error(`the first operator, at ${page.url()}: ${error.message}; ${troubles}`, { cause: error });
  }
  check('nothing unusual at the first run', troubles.length === 0, troubles);
  await context.close();
  return person;
}
