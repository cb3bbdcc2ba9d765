/**
 * How many thresholds of the shipped scenarios turn inconclusive on the reference service: `npx node bench/shipped-thresholds.ts
 * [--only name,…]`. Each scenario runs once as it is written, one after the other, in about ten minutes in all. Its service is in this
 * process, and admits any number of requests; each account has a million credits. Prints each threshold that is not decided, and exits
 * with 1 if more than one in ten is not.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from '../src/run/run.ts'
import { loadScenario } from '../src/scenario/parse.ts'
import { startService } from '../src/service/start.ts'
import { openContract as contract } from './open-contract.ts'

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const folder = resolve(import.meta.dirname, '../scenarios')
const only = values.only?.split(',')

const balance = 1_000_000

async function thresholdsOf(file: string) {
  const scenario = await loadScenario(join(folder, file))
  if (scenario.thresholds.length === 0) return []
  const service = await startService({
    seed: 1,
    contract,
    accounts: scenario.keys.map(({ name }) => ({ name, balance })),
  })
  const stores = mkdtempSync(join(tmpdir(), 'assay-shipped-'))
  try {
    const { thresholds } = await run(scenario, {
      baseUrl: service.baseUrl,
      dbPath: join(stores, 'a.duckdb'),
      contract,
      seed: 1,
      keys: Object.fromEntries(
        scenario.keys.map(({ name }, at) => [name, service.keys[at]!.apiKey]),
      ),
    })
    return thresholds
  } finally {
    await service.close()
    rmSync(stores, { recursive: true })
  }
}

let [all, undecided] = [0, 0]
process.stdout.write('| scenario | threshold | result |\n| --- | --- | --- |\n')
for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
  const name = file.replace('.yaml', '')
  if (only !== undefined && !only.includes(name)) continue
  for (const { text, result, samples, worth, ...why } of await thresholdsOf(file)) {
    all++
    if (result === 'inconclusive') undecided++
    const of = worth === null ? '' : ` (${samples} samples, worth ${Math.round(worth)})`
    const open = result === 'inconclusive' ? ` ${JSON.stringify(why)}` : ''
    process.stdout.write(`| ${name} | \`${text}\` | ${result}${of}${open} |\n`)
  }
}
process.stdout.write(`\n${undecided} of ${all} thresholds are inconclusive.\n`)
process.exitCode = undecided > all / 10 ? 1 : 0
