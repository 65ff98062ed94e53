// Chromium uses the developer portal: one developer's way from the invitation to a replayed delivery, how fast live pages are,
// how much the first visit loads, every page in both languages, themes and sizes, and every form without scripts.
// Screenshots go to target/screenshots/portal.

import { mkdirSync, rmSync } from 'node:fs';

import { LOCALES, launch, versions } from './browser.mjs';
import { Mailbox } from './mailbox.mjs';
import { forms } from './portal_forms.mjs';
import { Gallery } from './gallery.mjs';
import { live } from './portal_live.mjs';
import { anonymousPages, emptyPages, fullPages, teamlessPages } from './portal_pages.mjs';
import { Developer, call, invite } from './portal_stage.mjs';
import { walk } from './portal_walk.mjs';
import { firstVisit } from './portal_weight.mjs';
import { done, world } from './stage.mjs';
import { newAddress, newTeam, operate } from './visitor.mjs';

/** What the team has besides: a pending and a refused request, an open invitation, a call that fails and a failing delivery. */
async function furnish(browser, has) {
  const context = await browser.newContext({ locale: LOCALES.es });
  const developer = new Developer(await context.newPage(), has.email, has.team);
  await developer.signIn();
  for (const name of ['Rechazada', 'Pendiente']) {
    await developer.open('subscriptions');
    await developer.submit('ask', { product: 'payroll', name });
  }
  const { requests } = await operate('GET', `requests?team=${has.team}&state=pending`);
  await operate('POST', `requests/${requests[0].id}/refuse`, { reason: 'Falta el contrato' });
  await developer.open(`applications/${has.client}`);
  await developer.submit('add_address', { redirect_uri: 'https://app.example.com/callback' });
  await developer.open('team');
  await developer.submit('invite', { email: newAddress('invitada') });
  await operate('PATCH', `teams/${has.team}/sandbox`, { receiverMode: 'fail' });
  has.failed = await makeEvent(has.team);
  await context.close();
}

async function makeEvent(team) {
  const { sequenceVersion } = await operate('POST', `teams/${team}/sandbox/events`, { event: 'customers.created' });
  return Number(sequenceVersion);
}

/** A developer who reads English, of a team or of none. */
async function newDeveloper(browser, mailbox, team) {
  const { email, link } = await invite(mailbox, team, 'en');
  const context = await browser.newContext({ locale: LOCALES.en });
  await new Developer(await context.newPage(), email).accept(link);
  await context.close();
  return email;
}

/** Every page in one language, for a developer who reads it. */
async function everyPage(browser, lang, email, has, empty, nobody) {
  const gallery = await Gallery.open(browser, lang, 'portal', (page) => new Developer(page, email, has.team));
  await gallery.visit(anonymousPages());
  await gallery.visitor.signIn();
  await gallery.hasAll(fullPages(has));
  await gallery.visit(gallery.part(fullPages(has)));
  gallery.visitor.team = empty;
  await gallery.visit(gallery.part(emptyPages()));
  await gallery.close();
  const other = await Gallery.open(browser, lang, 'portal', (page) => new Developer(page, nobody));
  await other.visitor.signIn();
  await other.visit(teamlessPages());
  await other.close();
  return gallery.count + other.count;
}

rmSync(`${world.screenshots}/portal`, { recursive: true, force: true });
mkdirSync(`${world.screenshots}/portal`, { recursive: true });
const mailbox = await Mailbox.listen(world.mail_port);
const browser = await launch();
const told = [];
try {
  const [person, nobody] = [await newDeveloper(browser, mailbox), await newDeveloper(browser, mailbox)];
  const [has, plain] = await Promise.all([walk(browser, mailbox), forms(browser, person, nobody)]);
  told.push(await live(browser, has, { makeEvent: () => makeEvent(has.team), call: () => call(has) }));
  told.push(`${Math.ceil(await firstVisit(browser, has) / 1024)} KiB at the first visit`);
  const readers = { es: has.email, en: await newDeveloper(browser, mailbox, has.team) };
  const empty = await newTeam('Equipo sin nada');
  for (const developer of Object.values(readers)) await operate('POST', `teams/${empty}/members`, { developer, role: 'owner' });
  await furnish(browser, has);
  const every = Object.entries(readers).map(([lang, email]) => everyPage(browser, lang, email, has, empty, nobody));
  const [es, en] = await Promise.all(every);
  told.push(`${es + en} pages`, `${plain} forms without scripts`);
} finally {
  await browser.close();
  mailbox.close();
}
done(`${versions(browser)}: ${told.join(', ')}`);
