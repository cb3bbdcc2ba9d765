import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  audit,
  defaultContract,
  isBroken,
  loadScenario,
  openExistingStore,
  usageToken,
} from '../../src/index.ts'
import { seededStore } from '../report/seeded.ts'

/** Examples are files, so that `npm run check:types` checks them; the documents show them. */
const examples = join(import.meta.dirname, 'examples')
const docs = resolve(import.meta.dirname, '../../docs')

test('the programs in the documents are the examples of this folder', () => {
  const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  const shown = [...pages.map((page) => join(docs, page)), resolve(docs, '../README.md')]
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```/gm)])
    .map(([, code]) => code!)
    .filter((code) => code.includes("from 'assay'"))
  const files = readdirSync(examples).map((name) => readFileSync(join(examples, name), 'utf8'))
  expect(shown.toSorted()).toEqual(files.toSorted())
})

test('the example scenario in TypeScript loads', async () => {
  const scenario = await loadScenario(join(examples, 'numbers.ts'), defaultContract)
  expect(scenario.name).toBe('numbers')
  expect(scenario.steps.map(({ name }) => name)).toEqual(['chat'])
})

test('the example program that makes a page writes it', { tags: 'whole' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-examples-'))
  const home = process.cwd()
  onTestFinished(() => {
    process.chdir(home)
    rmSync(folder, { recursive: true })
  })
  const store = await seededStore({ attempts: 200, path: join(folder, 'assay.duckdb') })
  store.close()
  process.chdir(folder)
  await import('./examples/launch-page.ts')
  expect(readFileSync('launch.html', 'utf8')).toMatch(/^<!doctype html>/)
})

test('the example program that audits prints the broken rules, and exits with 3', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-examples-'))
  const home = process.cwd()
  const said: string[] = []
  const summary = vi.spyOn(console, 'error').mockImplementation((line) => said.push(String(line)))
  onTestFinished(() => {
    process.chdir(home)
    process.exitCode = 0
    summary.mockRestore()
    rmSync(folder, { recursive: true })
  })
  const store = await seededStore({ attempts: 200, path: join(folder, 'assay.duckdb') })
  const { findings } = await audit(store, { rules: ['BILL', 'RATE'] })
  store.close()
  process.chdir(folder)
  await import('./examples/nightly-audit.ts')
  expect(said.map((line) => line.split(':')[0])).toEqual(
    findings.filter(isBroken).map(({ rule }) => rule),
  )
  expect(process.exitCode).toBe(said.length > 0 ? 3 : 0)
})

test('the example server answers with a usage page, at once to several readers', {
  tags: 'whole',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-examples-'))
  const home = process.cwd()
  const store = await seededStore({ attempts: 200, path: join(folder, 'assay.duckdb') })
  store.close()
  vi.stubEnv('PORT', '0')
  process.chdir(folder)
  const { server } = await import('./examples/usage-server.ts')
  onTestFinished(() => {
    server.close()
    process.chdir(home)
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const zones = ['UTC', 'Asia/Kolkata', 'Mars']
  const answers = await Promise.all(
    zones.map(async (zone) => {
      const answer = await fetch(`http://127.0.0.1:${port}/?zone=${zone}`)
      return [answer.status, /Times of day in ([\w/]+)\./.exec(await answer.text())?.[1]]
    }),
  )
  expect(answers).toEqual([
    [200, 'UTC'],
    [200, 'Asia/Kolkata'],
    [400, undefined],
  ])
})

test('a rule of your own is decided beside ours', { tags: 'whole' }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-examples-'))
  const home = process.cwd()
  const summary = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => {
    process.chdir(home)
    summary.mockRestore()
    rmSync(folder, { recursive: true })
  })
  const store = await seededStore({ attempts: 200, path: join(folder, 'assay.duckdb') })
  store.close()
  process.chdir(folder)
  await import('./examples/own-rule.ts')
  const after = await openExistingStore('assay.duckdb')
  const found = await after.rows<{ verdict: string; observations: number }>(
    `SELECT verdict, observations::INTEGER AS observations FROM findings WHERE rule = 'MINE-01'`,
  )
  const [{ answers, without }] = (await after.rows<{ answers: number; without: number }>(
    `SELECT count(*)::INTEGER AS answers, count(*) FILTER (WHERE response_id IS NULL)::INTEGER AS without
     FROM attempts WHERE outcome = 'ok'`,
  )) as [{ answers: number; without: number }]
  after.close()
  expect(answers).toBeGreaterThan(100)
  expect(found).toEqual([{ verdict: without > 0 ? 'fail' : 'pass', observations: answers }])
})

test('a rule of your own may not take the id of one of ours', { tags: 'whole' }, async () => {
  const store = await seededStore({ attempts: 20 })
  onTestFinished(() => store.close())
  const [ours] = (await import('../../src/audit/rules/list.ts')).allRules
  await expect(audit(store, { rules: [{ ...ours! }] })).rejects.toThrow(
    `the id ${ours!.id} of a rule of your own is taken`,
  )
})

test('Express in the documents is the program of the folder of foreign packages', () => {
  const file = resolve(import.meta.dirname, '../foreign/usage-express.js')
  const page = readFileSync(join(docs, 'programs.md'), 'utf8')
  expect(/^```js\n([\s\S]*?)^```/m.exec(page)?.[1]).toBe(readFileSync(file, 'utf8'))
})

test.each([
  ['hono', './examples/usage-hono.ts', '/usage'],
  ['Express', '../foreign/usage-express.js', '/usage'],
  ['node:http', './examples/usage-http.ts', ''],
])("%s serves the customers' usage", { tags: 'whole' }, async (_, program, path) => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-examples-'))
  const home = process.cwd()
  const store = await seededStore({ attempts: 200, path: join(folder, 'assay.duckdb') })
  store.close()
  const settings = { product: 'Example', tokens: { algorithm: 'HS256', secretEnv: 'USAGE_SECRET' } }
  writeFileSync(join(folder, 'usage.yaml'), JSON.stringify(settings))
  vi.stubEnv('PORT', '0')
  vi.stubEnv('USAGE_SECRET', 'a secret of the operator with more than 32 bytes')
  process.chdir(folder)
  const { server } = (await import(program)) as { server: Server }
  onTestFinished(async () => {
    server.close()
    await once(server, 'close')
    process.chdir(home)
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const token = await usageToken('usage.yaml', { account: 'acme' })
  const headers = { authorization: `Bearer ${token}` }
  const ask = (place: string) => fetch(`http://127.0.0.1:${port}${path}${place}`, { headers })
  expect(await (await ask('/healthz')).text()).toBe('ok')
  expect(await (await ask('/v1/account')).json()).toMatchObject({ timezone: 'UTC' })
  const page = await ask('/page')
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=UTF-8'])
})
