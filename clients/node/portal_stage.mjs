// Shared by the tests of the developer portal: developers in their browsers.

import { check, world } from './stage.mjs';
import { Visitor, newAddress, operate } from './visitor.mjs';

const { dev } = world;
export const HOME = dev.portal_url;
export const ORIGIN = new URL(HOME).origin;

/** Invites somebody to a team; returns the address and the link that the mail carries. */
export async function invite(mailbox, team, lang) {
  const email = newAddress('nora');
  await operate('POST', 'invitations', { realm: 'developers', email, lang, ...(team && { team, teamOwner: true }) });
  return { email, link: await mailbox.link(email) };
}

/** A call with the team's key and token; returns its request id. */
export async function call({ key, token }) {
  const headers = { 'ocp-apim-subscription-key': key, authorization: `Bearer ${token}`, context: 'none' };
  const answer = await fetch(`${dev.base_url}/accounting/api/companies`, { headers });
  check('companies', answer.status === 200, answer.status);
  return answer.headers.get('x-request-id');
}

/** A developer with a page of the portal. */
export class Developer extends Visitor {
  constructor(page, email, team) {
    super(page, HOME, email);
    this.team = team;
  }

  /** The URL of a page of the team. */
  url(path = '') {
    return `${HOME}teams/${this.team}/${path}`;
  }
}
