// Somebody who was invited makes their account, sees it, and finds that the link works once.

import { check, issuer } from './stage.mjs';

const WORDS = {
  es: { short: 'al menos 10', used: 'no sirve' },
  en: { short: 'at least 10', used: 'does not work' },
};

export async function invitation({ page, users: person, show, lang }) {
  const words = WORDS[lang];
  const link = `${issuer}/invitation?token=${person.token}`;
  const submit = async (password) => {
    await page.locator('#given_name').fill('Olaia');
    await page.locator('#new_password').fill(password);
    await page.locator('#repeated_password').fill(password);
    await Promise.all([page.waitForEvent('load'), page.locator('main form.stack button').click()]);
  };
  await page.goto(link);
  check('the address of the invitation', (await page.locator('main').innerText()).includes(person.email));
  await show('invitation');
  await submit('corta');
  const notice = await page.locator('#notice').innerText();
  check('why the password is refused', notice.includes(words.short), notice);
  await show('invitation-refused');
  await submit(person.password);
  await page.goto(`${issuer}/account`);
  check('signed in to the new account', (await page.locator('header').innerText()).includes(person.email));
  await show('account');
  await page.goto(link);
  const text = await page.locator('main').innerText();
  check('the link works once', text.includes(words.used), text);
  await show('invitation-used');
}
