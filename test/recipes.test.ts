import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { decideInOrder } from '../src/audit/decide.ts'
import type { Rule } from '../src/audit/rule.ts'
import {
  defaultContract,
  importFile,
  makeReport,
  openStore,
  parseScenario,
  readUsage,
  startService,
} from '../src/index.ts'
import type { Fault } from '../src/service/faults/fault.ts'
import type { KnownFormat } from '../src/store/import/formats/format.ts'
import { knownFormats } from '../src/store/import/formats/list.ts'
import { seededOptions, seededStore } from './report/seeded.ts'

const root = resolve(import.meta.dirname, '..')
const text = readFileSync(join(root, 'docs/recipes.md'), 'utf8')

/** The first code block of a recipe, or the first in a language. */
function blockOf(recipe: string, language = '\\w+'): string {
  const part = text.split(/^## /m).find((each) => each.startsWith(`${recipe}\n`))
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(part ?? '')![1]!
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-recipes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** The exports of a module at the path that its first line names. */
async function moduleOf(recipe: string): Promise<Readonly<Record<string, unknown>>> {
  const code = blockOf(recipe)
  const place = join(root, dirname(/^\/\/ (\S+)/.exec(code)![1]!))
  const file = join(temporaryFolder(), 'recipe.ts')
  writeFileSync(
    file,
    code.replaceAll(/from '(\..*?)'/g, (_, path: string) => `from '${join(place, path)}'`),
  )
  return import(pathToFileURL(file).href)
}

test('every file that a recipe names exists', () => {
  const named = [...text.matchAll(/`((?:src|test|reports|scenarios)\/[^`]*)`/g)]
    .map((match) => match[1]!.replace(/\/?<[^>]*>.*$/, ''))
    .filter((path) => !existsSync(join(root, path)))
  expect(named).toEqual([])
})

test('the scenario of the recipe parses', () => {
  const scenario = parseScenario(blockOf('A scenario'), 'evening.yaml', defaultContract)
  expect(scenario.question).toBe(
    'Does the service sustain twenty requests per second of short chats?',
  )
})

test('the query of the recipe is a table of the page, under its heading', {
  tags: 'whole',
}, async () => {
  const store = await seededStore({ attempts: 200 })
  onTestFinished(() => store.close())
  const reportsFolder = temporaryFolder()
  writeFileSync(join(reportsFolder, '95-mine.sql'), blockOf('A chart'))
  const { html } = await makeReport(store, {
    ...seededOptions(store),
    page: 'launch',
    reportsFolder,
  })
  expect(html).toContain('<h2>Mine</h2>')
})

test('with the picture of the recipe the query is a chart of the page', {
  tags: 'whole',
}, async () => {
  const store = await seededStore({ attempts: 200 })
  onTestFinished(() => store.close())
  const reportsFolder = temporaryFolder()
  writeFileSync(join(reportsFolder, '95-mine.sql'), blockOf('A chart'))
  writeFileSync(join(reportsFolder, '95-mine.vl.json'), blockOf('A chart', 'json'))
  const { html } = await makeReport(store, {
    ...seededOptions(store),
    page: 'launch',
    reportsFolder,
  })
  const mine = html.slice(html.indexOf('<h2>Mine</h2>'))
  expect(mine.slice(0, mine.indexOf('<h2>', 1))).toMatch(/<figure[\s\S]*Attempts of each step/)
})

test('the rule of the recipe is decided over a store', { tags: 'whole' }, async () => {
  const store = await seededStore({ attempts: 200 })
  onTestFinished(() => store.close())
  const { rule } = (await moduleOf('A rule')) as { readonly rule: Rule }
  const evidence = { store, runIds: ['run-1'], contract: defaultContract }
  const [finding] = await decideInOrder([rule], {
    ...{ ...evidence, killedRunIds: [], missingParts: [] },
  })
  expect(finding).toEqual({
    ...{ rule: 'MODEL-99', severity: 'advice', title: 'The model list is never empty' },
    verdict: { verdict: 'not-observed', requires: 'a captured answer of the model list' },
  })
})

test('with the fault of the recipe the service rejects every key', { tags: 'whole' }, async () => {
  const example = (await moduleOf('A fault')).example as Fault
  const statuses: number[] = []
  for (const faults of [[], [example]]) {
    const service = await startService({ faults })
    const { apiKey } = service.keys[0]!
    const headers = { authorization: `Bearer ${apiKey}` }
    statuses.push((await fetch(`${service.baseUrl}/v1/models`, { headers })).status)
    await service.close()
  }
  expect(statuses).toEqual([200, 401])
})

test('a file in the format of the recipe is imported without a mapping, each line with its cost', async () => {
  const { example } = (await moduleOf('A format of an import')) as { example: KnownFormat }
  expect(example.recognises((name) => name === 'cost', '')).toBe(false)
  const listed = knownFormats as KnownFormat[]
  listed.push(example)
  onTestFinished(() => void listed.pop())
  const file = join(temporaryFolder(), 'example.jsonl')
  const costs = ['0.5', '0.25']
  const lines = costs.map((cost, at) => {
    const row = { example_id: `request-${at}`, asked_at: `2026-11-01T00:00:0${at}Z`, model: 'm' }
    return JSON.stringify({ ...row, example_cost: cost })
  })
  writeFileSync(file, lines.join('\n'))
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  const imported = await importFile(store, { file })
  expect(imported).toMatchObject({ kind: 'log', source: 'example', accepted: 2, rejected: 0 })
  const { totals } = await readUsage(store, { parts: ['totals'] })
  expect(totals.money).toMatchObject([{ unit: 'USD', used: '0.75' }])
})
