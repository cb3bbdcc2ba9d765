import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { gapIds } from '../../src/contract/profile.ts'
import * as api from '../../src/index.ts'
import { natsServer, withoutNats } from '../fleet/nats.ts'
import { seededStore } from '../report/seeded.ts'

const {
  ScenarioError,
  UserError,
  attemptColumns,
  audit,
  calibrate,
  comparisonMarkdown,
  compareRuns,
  defaultContract,
  defineScenario,
  effectOf,
  exportTable,
  importFile,
  isBroken,
  joinFleet,
  judgeGates,
  judgeParts,
  listRuns,
  loadContract,
  loadProfile,
  loadScenario,
  makeReport,
  mergeParts,
  openExistingStore,
  openStore,
  parseMapping,
  parseScenario,
  probe,
  readUsage,
  run,
  runPair,
  runRepeats,
  scenarioFrom,
  startService,
  summarise,
  usageHandler,
  usageToken,
  watch,
  watchRun,
  writeReport,
} = api

/** The `@example` of each export, as code that is type-checked and run. */
const examples: Readonly<Record<string, () => Promise<void> | void>> = {
  ScenarioError() {
    try {
      parseScenario('name: n')
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error
      for (const { line, message } of error.issues) console.error(line, message)
    }
  },
  async UserError() {
    try {
      await openExistingStore('typo.duckdb')
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      console.error(error.code, error.message)
    }
  },
  attemptColumns() {
    console.log(attemptColumns.firstContentUs.description)
  },
  async audit() {
    const store = await openExistingStore('assay.duckdb')
    const { findings } = await audit(store, { rules: ['BILL', 'RATE'] })
    for (const { rule, title } of findings.filter(isBroken)) console.error(`${rule}: ${title}`)
    store.close()
  },
  async calibrate() {
    const { plainPerS } = await calibrate('machine.duckdb', { threads: 1, seconds: 1 })
    console.log(plainPerS)
  },
  async compareRuns() {
    const store = await openExistingStore('assay.duckdb')
    const [after, before] = await listRuns(store)
    const { differences } = await compareRuns(
      { store, runId: before!.runId },
      { store, runId: after!.runId },
    )
    console.log(differences.length)
    store.close()
  },
  defaultContract() {
    console.log(defaultContract.models.map(({ id }) => id))
  },
  defineScenario() {
    const scenario = defineScenario({
      ...{ name: 'numbers', question: 'Are the numbers right?', model: 'svc-k2' },
      steps: { chat: { endpoint: 'chat', prompt: 'What is 6 * 7?' } },
      phases: [{ name: 'steady', load: 'constant', rate: '5/s', duration: '10s' }],
    })
    console.log(scenario.name)
  },
  effectOf() {
    console.log(effectOf('timeout', true)) // ambiguous: it may have been charged
  },
  async exportTable() {
    const store = await openExistingStore('assay.duckdb')
    const rows = await exportTable(store, { what: 'attempts', file: 'attempts.csv', format: 'csv' })
    console.log(`${rows} rows`)
    store.close()
  },
  async importFile() {
    const store = await openStore('assay.duckdb')
    const mapping = parseMapping('fields: { id: id, time: at, credits: cost }')
    const { accepted, rejected } = await importFile(store, { file: 'gateway.jsonl', mapping })
    console.log(`${accepted} lines, ${rejected} rejected`)
    store.close()
  },
  async isBroken() {
    const store = await openExistingStore('assay.duckdb')
    const { findings } = await audit(store)
    process.exitCode = findings.some(isBroken) ? 3 : 0
    store.close()
  },
  async joinFleet() {
    const shard = { index: 0, of: 1 }
    const meeting = { address: 'nats://127.0.0.1:4222', runId: 'night', waitMs: 5000 }
    const team = await joinFleet({ ...meeting, shard })
    await team.close(null)
  },
  async judgeParts() {
    const store = await openStore('merged.duckdb')
    const runId = await mergeParts(store, { paths: ['shard-0.duckdb', 'shard-1.duckdb'] })
    const { verdict } = await judgeParts(store, { runId })
    console.log(verdict.verdict)
    store.close()
  },
  async listRuns() {
    const store = await openExistingStore('assay.duckdb')
    for (const { runId, scenario, attempts } of await listRuns(store))
      console.log(runId, scenario, attempts)
    store.close()
  },
  async loadScenario() {
    const scenario = await loadScenario('scenarios/quick.yaml')
    console.log(scenario.question)
  },
  async makeReport() {
    const store = await openExistingStore('assay.duckdb')
    const { html } = await makeReport(store, { page: 'usage', timeZone: 'Asia/Kolkata' })
    console.log(html.length)
    store.close()
  },
  async mergeParts() {
    const store = await openStore('merged.duckdb')
    const runId = await mergeParts(store, { paths: ['shard-0.duckdb', 'shard-1.duckdb'] })
    console.log(await judgeParts(store, { runId }))
    store.close()
  },
  async openExistingStore() {
    const store = await openExistingStore('assay.duckdb')
    console.log(await store.rows('SELECT count(*) AS attempts FROM attempts'))
    store.close()
  },
  async openStore() {
    const store = await openStore('assay.duckdb')
    const runs = await store.rows('SELECT run_id FROM runs')
    console.log(runs.length)
    store.close()
  },
  parseMapping() {
    const mapping = parseMapping('fields: { id: request, time: at, credits: cost }')
    console.log(mapping.fields.time)
  },
  parseScenario() {
    const scenario = parseScenario(`
    name: steady
    question: Does the service sustain five requests per second?
    model: svc-k2
    steps: { chat: { endpoint: chat } }
    phases: [{ name: steady, load: poisson, rate: 5/s, duration: 30s }]
    `)
    console.log(scenario.phases.length)
  },
  async probe() {
    const service = await startService()
    const [store, { baseUrl, keys }] = [await openStore('assay.duckdb'), service]
    const { profile } = await probe(store, {
      ...{ contract: defaultContract, baseUrl, apiKey: keys[1]!.apiKey },
      ...{ maxCredits: 50, only: ['G-01'] },
    })
    console.log(profile)
    store.close()
    await service.close()
  },
  async readUsage() {
    const store = await openExistingStore('assay.duckdb')
    const { totals } = await readUsage(store, { timeZone: 'Asia/Kolkata', parts: ['totals'] })
    for (const { used, unit } of totals.money) console.log(`${used} ${unit}`)
    store.close()
  },
  async run() {
    const service = await startService()
    const { baseUrl, keys } = service
    const scenario = scenarioFrom({
      ...{ name: 'gate', question: 'Is a chat answered?', model: 'svc-k2' },
      steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
      phases: [{ name: 'steady', load: 'constant', rate: '10/s', max_requests: 10 }],
    })
    const { counts } = await run('assay.duckdb', {
      ...{ scenario, baseUrl, keys: { default: keys[1]!.apiKey } },
      onAttempts: (rows) => console.log(rows.map(({ status }) => status)),
    })
    console.log(counts)
    await service.close()
  },
  async runPair() {
    const [one, two] = [await startService(), await startService()]
    const scenario = scenarioFrom({
      ...{ name: 'pair', question: 'Is b slower?', model: 'svc-k2' },
      targets: {
        a: { base_url: one.baseUrl, key_env: 'KEY_OF_A' },
        b: { base_url: two.baseUrl, key_env: 'KEY_OF_B' },
      },
      steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
      phases: [{ name: 'steady', load: 'constant', rate: '10/s', max_requests: 10 }],
    })
    const [a, b] = [one, two].map(({ keys }) => keys[1]!.apiKey)
    const stores = { a: 'of-a.duckdb', b: 'of-b.duckdb' }
    const results = await runPair(stores, {
      ...{ scenario, pair: 'nightly' },
      contracts: { a: defaultContract, b: defaultContract },
      environment: { KEY_OF_A: a, KEY_OF_B: b },
    })
    console.log(results.a.verdict, results.b.verdict)
    await one.close()
    await two.close()
  },
  async runRepeats() {
    const service = await startService()
    const scenario = scenarioFrom({
      ...{ name: 'repeats', question: 'How far do runs differ?', model: 'svc-k2' },
      steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
      phases: [{ name: 'steady', load: 'constant', rate: '10/s', max_requests: 5 }],
    })
    const results = await runRepeats('repeats.duckdb', {
      ...{ scenario, name: 'before', count: 3, baseUrl: service.baseUrl },
      keys: { default: service.keys[1]!.apiKey },
      beforeEach: (number) => console.log(`run ${number}`),
    })
    console.log(results.map(({ runId }) => runId))
    await service.close()
  },
  scenarioFrom() {
    const scenario = scenarioFrom({
      ...{ name: 'steady', question: 'Does it hold?', model: 'svc-k2' },
      steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
      phases: [{ name: 'steady', load: 'constant', rate: '10/s', duration: '2s' }],
    })
    console.log(scenario.phases[0]!.name)
  },
  async startService() {
    const service = await startService({ accounts: [{ name: 'a', balance: 50 }] })
    const headers = { authorization: `Bearer ${service.keys[0]!.apiKey}` }
    console.log(await (await fetch(`${service.baseUrl}/v1/credits`, { headers })).json())
    await service.close()
  },
  async summarise() {
    const store = await openExistingStore('assay.duckdb')
    const [last] = await listRuns(store)
    const { all } = await summarise(store, { runId: last!.runId })
    console.log(all.metrics.service.p95)
    store.close()
  },
  async watch() {
    const service = await startService()
    const [{ apiKey }, { baseUrl }] = [service.keys[1]!, service]
    await watch('assay.duckdb', { baseUrl, apiKey, everyMs: 100, count: 2 })
    await service.close()
  },
  async watchRun() {
    const meeting = { address: 'nats://127.0.0.1:4222', runId: 'night', waitMs: 5000 }
    const watched = await watchRun(meeting)
    await watched.close()
  },
  async judgeGates() {
    const store = await openExistingStore('assay.duckdb')
    const [after, before] = await listRuns(store)
    const comparison = await compareRuns(
      { store, runId: before!.runId },
      { store, runId: after!.runId },
    )
    const gates = await judgeGates(comparison, ['p95 > +10%', 'errors > +1%'])
    process.exitCode = gates.every(({ result }) => result === 'passed') ? 0 : 1
    console.log(await comparisonMarkdown(comparison, gates))
    store.close()
  },
  async comparisonMarkdown() {
    const store = await openExistingStore('assay.duckdb')
    const [after, before] = await listRuns(store)
    const comparison = await compareRuns(
      { store, runId: before!.runId },
      { store, runId: after!.runId },
    )
    console.log(await comparisonMarkdown(comparison))
    store.close()
  },
  async loadContract() {
    const contract = await loadContract('contract.yaml')
    console.log(contract.name)
  },
  async loadProfile() {
    const profile = await loadProfile('profile.yaml')
    console.log(profile.answers)
  },
  async usageHandler() {
    const store = await openExistingStore('assay.duckdb')
    const usage = usageHandler(store, 'usage.yaml')
    await usage.ready
    const { status } = await usage(new Request('http://localhost/healthz'))
    console.log(status)
    await usage.close()
    store.close()
  },
  async usageToken() {
    const token = await usageToken('usage.yaml', { account: 'acme', forS: 900 })
    console.log(token.split('.').length)
  },
  async writeReport() {
    const store = await openExistingStore('assay.duckdb')
    await writeReport(store, { page: 'launch', out: 'launch.html' })
    store.close()
  },
}

const source = join(import.meta.dirname, '../../src')
const home = process.cwd()
const folder = mkdtempSync(join(tmpdir(), 'assay-examples-'))

beforeAll(async () => {
  const store = await seededStore({ attempts: 200, path: join(folder, 'assay.duckdb') })
  store.close()
  writeFileSync(join(folder, 'gateway.jsonl'), '{"id":"a","at":"2026-01-01T00:00:00Z","cost":1}\n')
  writeFileSync(join(folder, 'contract.yaml'), 'name: mine\nextends: svc\n')
  writeFileSync(
    join(folder, 'usage.yaml'),
    'product: Example\ntokens: { algorithm: HS256, secretEnv: USAGE_SECRET }\n',
  )
  const profile = {
    ...{
      version: 1,
      base_url: 'http://localhost',
      contract: 'svc',
      asked_at: '2026-01-01T00:00:00Z',
    },
    ...{ run_id: 'probe', credits_spent: 0 },
    answers: Object.fromEntries(gapIds.map((gap) => [gap, { status: 'not-asked', why: 'none' }])),
  }
  writeFileSync(join(folder, 'profile.yaml'), JSON.stringify(profile))
  vi.stubEnv('USAGE_SECRET', 'a secret of the operator with more than 32 bytes')
  process.chdir(folder)
  vi.spyOn(console, 'log').mockImplementation(() => {})
  await examples.run!()
  vi.restoreAllMocks()
  const service = await startService()
  const startAtUs = Date.now() * 1000
  for (const index of [0, 1]) {
    const scenario = scenarioFrom({
      ...{ name: 'parts', question: 'Is a chat answered?', model: 'svc-k2' },
      steps: { chat: { endpoint: 'chat', max_tokens: 8 } },
      phases: [{ name: 'steady', load: 'constant', rate: '20/s', max_requests: 20 }],
    })
    await run(`shard-${index}.duckdb`, {
      ...{ scenario, baseUrl: service.baseUrl, keys: { default: service.keys[1]!.apiKey } },
      ...{ runId: 'parts', shard: { index, of: 2 }, startAtUs },
    })
  }
  await service.close()
})

afterAll(() => {
  process.chdir(home)
  process.exitCode = 0
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const ofFleet = ['joinFleet', 'watchRun']

test.each(Object.keys(examples).filter((name) => !ofFleet.includes(name)))(
  'the example of %s runs',
  { tags: 'whole' },
  async (name) => {
    const said = vi.spyOn(console, 'log').mockImplementation(() => {})
    const told = vi.spyOn(console, 'error').mockImplementation(() => {})
    rmSync('merged.duckdb', { force: true })
    await examples[name]!()
    said.mockRestore()
    told.mockRestore()
  },
)

test.runIf(withoutNats === null)('the examples of a fleet run', async () => {
  const server = await natsServer()
  const [join, watched] = ofFleet.map((name) => {
    const [, address] = /address: '([^']+:)4222'/.exec(textOf(name) ?? '') ?? []
    return `${address}${server.port}`
  }) as [string, string]
  const team = await joinFleet({
    address: join,
    runId: 'night',
    shard: { index: 0, of: 1 },
    waitMs: 5000,
  })
  const watching = await watchRun({ address: watched, runId: 'night', waitMs: 5000 })
  await watching.close()
  await team.close(null)
  await server.close()
})

test('every value of the public API has an example, which is the code that is run here', () => {
  expect(Object.keys(examples).toSorted()).toEqual(Object.keys(api).toSorted())
  const own = readFileSync(import.meta.filename, 'utf8')
  const told = Object.keys(api).map((name) => [name, textOf(name)])
  const shown = Object.keys(api).map((name) => {
    const [, body] =
      new RegExp(`^  (?:async )?${name}\\(\\) \\{\\n([\\s\\S]*?)^  \\},$`, 'm').exec(own) ?? []
    return [name, body?.replace(/^ {4}/gm, '').trimEnd()]
  })
  expect(told).toEqual(shown)
})

/** The `@example` of a public value, where it is declared. */
function textOf(name: string): string | undefined {
  for (const file of filesWith(name)) {
    const text = readFileSync(file, 'utf8')
    const declared = new RegExp(
      `/\\*\\*((?:(?!\\*/)[\\s\\S])*)\\*/\\nexport (?:async )?(?:function|class|const) ${name}\\b`,
    ).exec(text)
    const [, example] = /@example\n([\s\S]*)$/.exec(declared?.[1] ?? '') ?? []
    if (example !== undefined) return example.replace(/^ \* ?/gm, '').trimEnd()
  }
  return undefined
}

/** The public files, and those whose values they pass on. */
function* filesWith(name: string): Generator<string> {
  for (const entry of readdirSync(join(source, 'public'))) {
    const file = join(source, 'public', entry)
    const text = readFileSync(file, 'utf8')
    if (new RegExp(`^export (?:async )?function ${name}\\b`, 'm').test(text)) yield file
    for (const [, names, target] of text.matchAll(/^export \{([^}]*)\} from '([^']+)'/gm)) {
      if (new RegExp(`(?:^|,)\\s*${name}\\s*(?:,|$)`).test(names!))
        yield join(dirname(file), target!)
    }
  }
}
