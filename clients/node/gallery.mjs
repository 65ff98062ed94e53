// Every page of a site (the portal, the console) in both themes and sizes: screenshots, audits, and nothing that a page may
// not do.

import { writeFile } from 'node:fs/promises';

import { IS_FULL, LOCALES, SIZES, audit, fits, watched } from './browser.mjs';
import { check, world } from './stage.mjs';

/** Between a phone and a desktop. */
const WIDTHS = [768, 1024];
/** Each language is seen in both sizes and both themes, and each size in both themes. */
const LOOKS = { es: [['desk', 'light'], ['phone', 'dark']], en: [['desk', 'dark'], ['phone', 'light']] };
/** The same with all parts of the page open, and with axe. */
const AUDITS = { es: ['phone', 'dark'], en: ['desk', 'light'] };

export class Gallery {
  #context;
  #session;
  #troubles;
  #origin;
  /** The URL whose error status is expected. */
  #refused;
  count = 0;

  /** `visitorOf` makes the visitor of a page; the screenshots go to `folder`. */
  static async open(browser, lang, folder, visitorOf) {
    const gallery = new Gallery();
    Object.assign(gallery, { lang, folder });
    gallery.#context = await browser.newContext({ locale: LOCALES[lang], viewport: SIZES.desk, reducedMotion: 'reduce' });
    // Error statuses are checked below, with the URL.
    gallery.#troubles = watched(gallery.#context);
    gallery.#context.on('request', (request) => gallery.#look(request.url()));
    gallery.#context.on('response', (response) => {
      if (response.status() >= 400 && response.url() !== gallery.#refused) {
        gallery.#troubles.push(`${response.status()} ${response.url()}`);
      }
    });
    gallery.page = await gallery.#context.newPage();
    gallery.#session = await gallery.#context.newCDPSession(gallery.page);
    gallery.visitor = visitorOf(gallery.page);
    gallery.#origin = new URL(gallery.visitor.home).origin;
    return gallery;
  }

  #look(url) {
    if (!/^(data|about):/.test(url) && new URL(url).origin !== this.#origin) this.#troubles.push(`asked elsewhere: ${url}`);
  }

  /** Checks that every page of the navigation is among the pages. */
  async hasAll(pages) {
    await this.visitor.open();
    const links = await this.page.locator('nav.side li a').evaluateAll((all) => all.map(({ href }) => href));
    const known = new Set(pages.map(({ path = '', url }) => url ?? this.visitor.url(path)));
    const missing = links.filter((link) => !known.has(link));
    check('every section is visited', links.length > 9 && missing.length === 0, missing);
  }

  /** The part of the pages that this language visits: all, or every other one. */
  part(pages) {
    return IS_FULL ? pages : pages.filter((_, index) => index % 2 === (this.lang === 'es' ? 0 : 1));
  }

  /** Visits each page: a name, its path (or a URL), the status, and what to do there first. */
  async visit(pages) {
    for (const { name, path = '', url, status = 200, act } of pages) {
      const there = new URL(url ?? this.visitor.url(path));
      there.searchParams.set('lang', this.lang);
      this.#refused = status >= 400 ? there.href : undefined;
      // Else only the fragment might change.
      if (there.hash) await this.page.goto('about:blank');
      const answer = await this.page.goto(there.href);
      check(`${name} answers with ${status}`, answer.status() === status, answer.status());
      if (act) await act(this.visitor, (refused) => { this.#refused = refused; });
      await this.#show(name);
      check(`nothing unusual in ${name} (${this.lang})`, this.#troubles.length === 0, this.#troubles);
    }
  }

  async #show(name) {
    const { page, lang } = this;
    this.count += 1;
    check(`${name} in ${lang}`, (await page.locator('html').getAttribute('lang')) === lang, page.url());
    check(`${name} has one heading`, (await page.locator('h1').count()) === 1, page.url());
    for (const [size, theme] of LOOKS[lang]) {
      await this.#dress(size, theme);
      await fits(page, name, size);
      await this.#shoot(`${name}-${lang}-${theme}-${size}`);
    }
    for (const width of WIDTHS) {
      await page.setViewportSize({ ...SIZES.desk, width });
      await fits(page, name, width);
    }
    const closed = await page.evaluate(() => {
      const parts = Array.from(document.querySelectorAll('main details:not([open])'));
      for (const part of parts) part.open = true;
      return parts.length;
    });
    const [size, theme] = AUDITS[lang];
    await this.#dress(size, theme);
    if (closed > 0) {
      await fits(page, `${name}, all open`, size);
      await this.#shoot(`${name}-open-${lang}-${theme}-${size}`);
    }
    await audit(page, `${name} (${lang}, ${theme}, ${size})`);
    await page.setViewportSize(SIZES.desk);
  }

  /** The whole page. Playwright's own screenshots compress better and take three times as long. */
  async #shoot(name) {
    const { cssContentSize } = await this.#session.send('Page.getLayoutMetrics');
    const { data } = await this.#session.send('Page.captureScreenshot', {
      captureBeyondViewport: true, optimizeForSpeed: true, clip: { ...cssContentSize, scale: 1 },
    });
    await writeFile(`${world.screenshots}/${this.folder}/${name}.png`, data, 'base64');
  }

  async #dress(size, theme) {
    await this.page.setViewportSize(SIZES[size]);
    await this.page.emulateMedia({ colorScheme: theme });
  }

  close() {
    return this.#context.close();
  }
}
