// Generators of clients take the documents whole: openapi-typescript, @hey-api/openapi-ts and orval the OpenAPI document,
// modelina the AsyncAPI document. Nothing is dropped, what they generate compiles, and programs that use it list customers,
// subscribe a webhook and read a delivery.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { TypeScriptGenerator } from '@asyncapi/modelina';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { generate as orval } from 'orval';
import ts from 'typescript';

import { accessToken, check, done, version, world } from './stage.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const CONSUMERS = ['openapi_typescript', 'hey_api', 'orval'];
const { dev } = world;

/** Runs a generator and returns what it printed. */
async function printed(run) {
  const lines = [];
  const names = ['log', 'info', 'warn', 'error'];
  const before = names.map((name) => console[name]);
  const write = [process.stdout.write, process.stderr.write];
  for (const name of names) console[name] = (...parts) => lines.push(parts.map(String).join(' '));
  process.stdout.write = process.stderr.write = (text) => lines.push(String(text)) > 0;
  try {
    await run();
  } finally {
    names.forEach((name, index) => (console[name] = before[index]));
    [process.stdout.write, process.stderr.write] = write;
  }
  return lines.join('\n');
}

/** All files below a folder, as one text. */
function sources(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.name.endsWith('.ts'));
  return files.map((one) => readFileSync(join(one.parentPath ?? one.path, one.name), 'utf8')).join('\n');
}

function operations(document) {
  const items = Object.values(document.paths).flatMap((item) => Object.values(item));
  return items.map((operation) => operation.operationId).filter(Boolean);
}

/** Every operation and every schema of the document must be in the generated text, and the generator has no complaint. */
function checkWhole(generator, document, text, said, named) {
  const missing = operations(document).filter((id) => !named.operation(id).test(text));
  check(`${generator} drops no operation`, missing.length === 0, missing);
  const schemas = Object.keys(document.components.schemas).filter((name) => !named.schema(name).test(text));
  check(`${generator} drops no schema`, schemas.length === 0, schemas);
  const complaint = /warn|skip|ignor|unsupported|not supported|invalid|fail|error(?!s\b)/i.exec(said.replace(/[\w/.]*Error\w*\.ts/g, ''));
  check(`${generator} does not complain`, complaint === null, said);
}

/** Generates from one document into a folder, with all three. */
async function generate(document, folder, check_) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const word = (before, name, after) => new RegExp(`${before}${name}${after}`);

  let types;
  let said = await printed(async () => (types = astToString(await openapiTS(document))));
  writeFileSync(join(folder, 'openapi-typescript.ts'), types);
  const property = (name) => word('\\b', name, ': \\{|\\b' + name + ': ');
  check_('openapi-typescript', types, said, { operation: property, schema: property });

  const hey = join(folder, 'hey-api');
  said = await printed(() => createClient({ input: file, output: { path: hey, clean: true }, logs: { file: false } }));
  const declared = (name) => new RegExp(`export (const|type|enum) ${name}\\b`, 'i');
  check_('@hey-api/openapi-ts', sources(hey), said, { operation: declared, schema: declared });

  const target = join(folder, 'orval');
  const output = { target: join(target, 'api.ts'), schemas: join(target, 'model'), client: 'fetch', mode: 'single', baseUrl: dev.base_url, headers: true };
  said = await printed(() => orval({ input: { target: file }, output }, folder));
  const exported = (name) => new RegExp(`export (const|type|interface|enum) ${name}\\b`, 'i');
  check_('orval', sources(target), said, { operation: exported, schema: exported });
}

/** The types of the notifications, and of the documents inside them, which no schema refers to. */
async function generateNotifications(document, folder) {
  const generator = new TypeScriptGenerator({ modelType: 'interface', rawPropertyNames: true });
  const models = new Map();
  const said = await printed(async () => {
    const inner = ['NotificationData', 'AcknowledgeData'].map((name) => document.components.schemas[name]);
    for (const input of [document, ...inner.map((one) => ({ $schema: 'http://json-schema.org/draft-07/schema', ...one }))]) {
      for (const model of await generator.generate(input)) models.set(model.modelName, model.result);
    }
  });
  const missing = Object.keys(document.components.schemas).filter((name) => !models.has(name));
  check('modelina drops no schema', missing.length === 0, [missing, [...models.keys()]]);
  const anonymous = [...models.keys()].filter((name) => /anonymous|root/i.test(name));
  check('every type has a name', anonymous.length === 0, anonymous);
  check('modelina does not complain', said === '', said);
  const text = [...models].map(([, result]) => `export ${result}`).join('\n\n');
  writeFileSync(join(folder, 'modelina.ts'), text);
}

const OPTIONS = {
  strict: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.CommonJS, moduleResolution: ts.ModuleResolutionKind.Node10, esModuleInterop: true, types: [],
};

/** Compiles all TypeScript of a folder; with `output`, to CommonJS. */
function compile(what, folder, output) {
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
  const program = ts.createProgram(files, { ...OPTIONS, noEmit: !output, outDir: output, rootDir: folder });
  const emitted = output ? program.emit().diagnostics : [];
  const faults = [...ts.getPreEmitDiagnostics(program), ...emitted];
  const shown = faults.slice(0, 5).map((one) => `${one.file?.fileName}: ${ts.flattenDiagnosticMessageText(one.messageText, ' ')}`);
  check(`${what} compiles`, faults.length === 0, shown);
}

/** A receiver that accepts everything. */
async function receiver() {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** An account of the company: that of its first customer. */
async function account(token, company) {
  const headers = {
    'ocp-apim-subscription-key': dev.subscription.primary_key, authorization: `Bearer ${token}`,
    context: JSON.stringify({ clientId: company }),
  };
  const answer = await fetch(`${dev.base_url}/accounting/api/customers?pageSize=1`, { headers });
  const [{ accountCode, accountCodeCorrelationId }] = await answer.json();
  return { accountCode, accountCodeCorrelationId };
}

/** Changes a customer of the company. */
async function change(tenant, company, correlationId, data) {
  const line = { area: 'accounting', resource: 'customers', company, action: 'upsert', correlationId, data };
  const answer = await fetch(`${dev.operator_url}/operator/v1/tenants/${tenant}/changes`, {
    method: 'POST', body: JSON.stringify(line),
    headers: { authorization: `Bearer ${dev.operator_token}`, 'content-type': 'application/x-ndjson' },
  });
  const told = await answer.json();
  check('an accepted change', told.accepted === 1, told);
}

const read = async (path) => (await fetch(dev.base_url + path)).json();
const folder = mkdtempSync(join(HERE, 'generated-'));
try {
  const whole = await read('/openapi.json');
  const all = join(folder, 'whole');
  await generate(whole, all, (generator, text, said, named) => checkWhole(generator, whole, text, said, named));
  compile('what is generated from the whole document', all);

  const slim = await read('/openapi.json?tags=Customers');
  check('a slim document', operations(slim).length === 18, operations(slim));
  const few = join(folder, 'slim');
  await generate(slim, few, (generator, text, said, named) => checkWhole(generator, slim, text, said, named));
  await generateNotifications(await read('/asyncapi.json'), few);
  for (const name of ['settings', ...CONSUMERS, 'modelina']) {
    cpSync(join(HERE, `consumer_${name}.ts`), join(few, `consumer_${name}.ts`));
  }
  const program = join(folder, 'program');
  compile('what is generated from a slim document, with a program', few, program);
  writeFileSync(join(program, 'package.json'), '{"type": "commonjs"}');

  const require = createRequire(join(program, 'index.js'));
  const user = dev.users.find((one) => one.tenants.length === 1);
  const [tenant] = user.tenants;
  const [company] = dev.tenants.find((one) => one.id === tenant).companies;
  const token = await accessToken(dev, user);
  const [taker, fields] = [await receiver(), await account(token, company)];
  for (const name of CONSUMERS) {
    const customer = `generated-${name}`;
    await change(tenant, company, customer, { ...fields, tradeName: 'Antes' });
    const outcome = await require(`./consumer_${name}.js`).run({
      baseUrl: dev.base_url, key: dev.subscription.primary_key, token, company, receiver: taker.url + name,
      change: () => change(tenant, company, customer, { ...fields, tradeName: 'Después' }),
    });
    check(`${name} lists customers`, outcome.tradeNames.length === 5 && outcome.tradeNames.every(Boolean), outcome);
    check(`${name} subscribes and reads a delivery`, outcome.status === 'delivered', outcome);
    check(`${name} reads the code of an error`, outcome.refused === 'not_found', outcome);
    const { event, record } = require('./consumer_modelina.js').read(outcome.body);
    check(`modelina's types fit the notification`, event === outcome.event && record === customer, [event, record]);
  }
  taker.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const libraries = ['openapi-typescript', '@hey-api/openapi-ts', 'orval', '@asyncapi/modelina'];
done(libraries.map((name) => `${name} ${version(name)}`).join(', '));
