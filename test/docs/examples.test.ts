import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { audit, defaultContract, isBroken, loadScenario } from '../../src/index.ts'
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
