// Chromium visits every page: in both languages, light and dark, on a desktop and on a phone, with scripts and without. No
// request may leave this machine, no page may violate its content security policy, and axe may find nothing serious.
// Screenshots go to target/screenshots.

import { mkdirSync, readdirSync, rmSync } from 'node:fs';

import { IS_FULL, LOCALES, SIZES, STATUS, audit, fits, launch, shot, versions, watched } from './browser.mjs';
import { Callbacks } from './callbacks.mjs';
import { invitation } from './invitation.mjs';
import { Mailbox } from './mailbox.mjs';
import { passwordReset } from './password_reset.mjs';
import { secondFactors } from './second_factors.mjs';
import { check, done, world } from './stage.mjs';
import { swagger, swaggerLooks } from './swagger.mjs';
import { tour } from './tour.mjs';

// Advice on the forms of Swagger UI, which are not ours.
const ADVICE = /^\[DOM\] (Password field|Input elements)/;
const isGrave = ({ impact }) => impact === 'serious' || impact === 'critical';

/** Every combination to test. `axe` runs without the content security policy, because it injects its own script. */
function ways() {
  const all = [];
  for (const lang of ['es', 'en']) {
    for (const theme of ['light', 'dark']) {
      for (const size of ['desk', 'phone']) all.push({ lang, theme, size, kind: 'seen' });
      all.push({ lang, theme, size: (lang === 'es') === (theme === 'light') ? 'phone' : 'desk', kind: 'axe' });
    }
    all.push({ lang, theme: lang === 'es' ? 'dark' : 'light', size: 'phone', kind: 'plain' });
  }
  // Fewer: between what is seen and what axe reads, each language has both themes and both sizes.
  const isDark = ({ lang, theme, size }) => theme === 'dark' && size === (lang === 'es' ? 'desk' : 'phone');
  const isOwn = { seen: isDark, axe: ({ theme }) => theme === 'light', plain: () => true };
  return all.filter((way) => IS_FULL || isOwn[way.kind](way));
}

/** The walks through invitation and second factors: pictures and audits, in both languages and themes. */
function factorWays() {
  const all = [];
  for (const kind of ['seen', 'axe']) {
    for (const lang of ['es', 'en']) {
      all.push({ lang, theme: 'light', size: 'desk', kind }, { lang, theme: 'dark', size: 'phone', kind });
    }
  }
  return all.filter(({ lang, theme, kind }) => IS_FULL || ((lang === 'es') === (theme === 'light')) === (kind === 'seen'));
}

/** The walks through the password reset. One address may ask for ten mails in a row, so the walks with axe take pictures too. */
function resetWays() {
  const all = [];
  for (const lang of ['es', 'en']) {
    for (const theme of ['light', 'dark']) {
      const audited = (lang === 'es') === (theme === 'light') ? 'phone' : 'desk';
      for (const size of ['desk', 'phone']) {
        all.push({ lang, theme, size, kind: size === audited ? 'axe' : 'seen', isPictured: true });
      }
    }
  }
  return all.filter(({ kind }) => IS_FULL || kind === 'axe');
}

/** The API documentation page. */
async function document(browser) {
  const context = await browser.newContext({ locale: LOCALES.en, viewport: SIZES.desk, reducedMotion: 'reduce' });
  const troubles = watched(context, new RegExp(`${STATUS.source}|${ADVICE.source}`));
  // Swagger UI draws all operations of a tag at once, which takes ten seconds on a slow machine.
  const timeout = 90_000;
  context.setDefaultTimeout(timeout);
  const newContext = async (more) => {
    const made = await browser.newContext({ locale: LOCALES.en, reducedMotion: 'reduce', ...more });
    made.setDefaultTimeout(timeout);
    return made;
  };
  try {
    await swagger(() => context.newPage());
    await swaggerLooks(newContext);
  } catch (error) {
    await context.pages()[0]?.screenshot({ path: `${world.screenshots}/FAILED-api-document.png` }).catch(() => {});
    error.message = `the APIs' document: ${error.message}; ${troubles.join('; ')}`;
    throw error;
  }
  check('nothing unusual over the document', troubles.length === 0, troubles);
  await context.close();
}

async function walk(browser, callbacks, users, way, visit = tour) {
  const name = `${way.lang}-${way.theme}-${way.size}`;
  const context = await browser.newContext({
    locale: LOCALES[way.lang],
    colorScheme: way.theme,
    viewport: SIZES[way.size],
    isMobile: way.size === 'phone',
    hasTouch: way.size === 'phone',
    javaScriptEnabled: way.kind !== 'plain',
    bypassCSP: way.kind === 'axe',
    reducedMotion: 'reduce',
  });
  const troubles = watched(context);
  const page = await context.newPage();
  let count = 0;
  const show = async (title) => {
    count += 1;
    check(`${title} in ${way.lang}`, (await page.locator('html').getAttribute('lang')) === way.lang, page.url());
    await fits(page, title, way.size);
    if (way.kind === 'axe') await audit(page, `${name} ${title}`, isGrave);
    if (way.kind !== 'axe' || way.isPictured) await picture(page, `${title}-${name}${way.kind === 'plain' ? '-plain' : ''}`, way);
  };
  try {
    await visit({ page, context, callbacks, users, show, lang: way.lang, plain: way.kind === 'plain' });
  } catch (error) {
    await page.screenshot({ path: `${world.screenshots}/FAILED-${name}-${way.kind}.png` }).catch(() => {});
    error.message = `${name} (${way.kind}) at ${page.url()}: ${error.message}`;
    throw error;
  }
  check(`nothing unusual in ${name} (${way.kind})`, troubles.length === 0, troubles);
  await context.close();
  return count;
}

/** A screenshot of the viewport and, if the page is longer, one of the whole page. */
async function picture(page, name, { size }) {
  const shoot = (path) => shot(page, path);
  await shoot(name);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  if (height <= SIZES[size].height) return;
  await page.setViewportSize({ ...SIZES[size], height });
  await shoot(`${name}-whole`);
  await page.setViewportSize(SIZES[size]);
}

mkdirSync(world.screenshots, { recursive: true });
// The folders are of other clients, which may be running.
for (const file of readdirSync(world.screenshots).filter((name) => name.endsWith('.png'))) rmSync(`${world.screenshots}/${file}`);
const callbacks = await Callbacks.listen(world.callback_port);
const mailbox = await Mailbox.listen(world.mail_port);
const browser = await launch();
const waiting = ways();
const number = waiting.length + 2 * factorWays().length + resetWays().length;
let pages = 0;
try {
  await document(browser);
  await Promise.all(world.site.users.browsers.map(async (users) => {
    for (let way = waiting.shift(); way; way = waiting.shift()) {
      const seen = await walk(browser, callbacks, users, way);
      pages += seen;
    }
  }));
  const { factors, invitations } = world.site.users;
  for (const [people, visit] of [[invitations, invitation], [factors, secondFactors]]) {
    for (const way of factorWays()) {
      const [person] = people.splice(people.findIndex(({ lang }) => lang === way.lang), 1);
      pages += await walk(browser, callbacks, person, way, visit);
    }
  }
  for (const way of resetWays()) pages += await walk(browser, callbacks, { mailbox }, way, passwordReset);
} finally {
  await browser.close();
  callbacks.close();
  mailbox.close();
}
done(`${versions(browser)}, ${number} tours, ${pages} pages`);
