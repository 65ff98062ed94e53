// Chromium uses the operator console: the first operator of a new installation, every job of the people who run the service,
// every form without scripts, and every page in both languages, themes and sizes, with content and without.
// Screenshots go to target/screenshots/console.

import { mkdirSync, rmSync } from 'node:fs';

import { IS_FULL, LOCALES, launch, versions } from './browser.mjs';
import { firstRun } from './console_first_run.mjs';
import { forms } from './console_forms.mjs';
import { anonymousPages, emptyPages, fullPages, sectionPages, viewerPages } from './console_pages.mjs';
import { Operator } from './console_stage.mjs';
import { walk } from './console_walk.mjs';
import { Gallery } from './gallery.mjs';
import { Mailbox } from './mailbox.mjs';
import { done, world } from './stage.mjs';

const { dev } = world;

/** The gallery of one language and one operator. */
function open(browser, lang, person) {
  return Gallery.open(browser, lang, 'console', (page) => new Operator(page, person));
}

/** Every page in one language. `first` is the operator of an installation without content, who sees it in Spanish. */
async function everyPage(browser, lang, has, first) {
  const full = await open(browser, lang, dev.operator);
  await full.visit(anonymousPages());
  await full.visitor.signIn();
  await full.hasAll(fullPages(has));
  await full.visit(IS_FULL ? fullPages(has) : full.part(sectionPages()));
  await full.close();
  if (!IS_FULL) return full.count;
  // Each language has one of the others.
  const other = await open(browser, lang, lang === 'es' ? first : has.viewer);
  await other.visitor.signIn();
  await other.visit(lang === 'es' ? emptyPages() : viewerPages(has));
  await other.close();
  return full.count + other.count;
}

rmSync(`${world.screenshots}/console`, { recursive: true, force: true });
mkdirSync(`${world.screenshots}/console`, { recursive: true });
const mailbox = await Mailbox.listen(world.mail_port);
const browser = await launch();
const told = [];
try {
  const [first, { has, jobs }] = await Promise.all([firstRun(browser), walk(browser, mailbox)]);
  const plain = await forms(browser, has);
  const every = Object.keys(LOCALES).map((lang) => everyPage(browser, lang, has, first));
  const [es, en] = await Promise.all(every);
  told.push(`${jobs} jobs`, `${plain} forms without scripts`, `${es + en} pages`);
} finally {
  await browser.close();
  mailbox.close();
}
done(`${versions(browser)}: ${told.join(', ')}`);
