import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defaultContract, loadScenario } from '../../src/index.ts'
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

test('the example program that makes a page writes it', async () => {
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
