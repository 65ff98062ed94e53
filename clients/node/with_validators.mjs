// Third-party validators check the documents: AsyncAPI's own parser and an independent OpenAPI validator.

import { Parser } from '@asyncapi/parser';
import { Validator } from '@seriousme/openapi-schema-validator';

import { check, done, version, world } from './stage.mjs';

const { base_url, operator_url } = world.dev;
const read = async (url) => (await fetch(url)).text();

const { document, diagnostics } = await new Parser().parse(await read(`${base_url}/asyncapi.json`));
check('an AsyncAPI document without a finding', diagnostics.length === 0, diagnostics.slice(0, 3));
check('AsyncAPI 3.0', document?.version() === '3.0.0', document?.version());
const [channels, messages] = [document.channels().length, document.components().messages().length];
check('a channel for each of 19 resources and 18 entities', channels === 37, channels);
// Four or five kinds and the Acknowledge for each resource; three at most for each entity.
check('a message for every event', messages >= 19 * 4 + 18, messages);
const broken = JSON.parse(await read(`${base_url}/asyncapi.json`));
broken.channels['Svc.ACC.Customers'].messages = 'none';
const found = await new Parser().parse(JSON.stringify(broken));
check('a broken document is found out', found.diagnostics.length > 0, found.diagnostics);

for (const url of [`${base_url}/openapi.json`, `${operator_url}/operator/v1/openapi.json`]) {
  const validator = new Validator();
  const result = await validator.validate(JSON.parse(await read(url)));
  check(`${url} is valid`, result.valid, result.errors);
  check(`${url} is OpenAPI 3.1`, validator.version === '3.1', validator.version);
}
const wrong = JSON.parse(await read(`${base_url}/openapi.json`));
wrong.info = 'none';
check('a broken document is found out', !(await new Validator().validate(wrong)).valid);

const libraries = ['@asyncapi/parser', '@seriousme/openapi-schema-validator'];
done(libraries.map((name) => `${name} ${version(name)}`).join(', '));
