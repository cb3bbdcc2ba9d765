import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultContract } from '../src/contract/default.ts'
import { readUsage } from '../src/report/usage/read.ts'
import { type LogFormat, ownMapping } from '../src/store/import/mapping.ts'
import { importUsageLog } from '../src/store/import/usage-log.ts'
import { openStore, type Store } from '../test/store/opened.ts'
import { writeUsageLog } from './usage-log.ts'

/**
 * `node bench/usage.ts [--events 20] [--format parquet|jsonl|csv] [--once] [--json]`: millions of usage
 * events over 30 days, 2,000 keys and 40 models are imported into a new store, imported again, and
 * the data of the usage page is read from them, by model and by key in turns: seconds per million, file size, peak
 * memory. A page's figures are the medians of five.
 */
const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20' },
    format: { type: 'string', default: 'parquet' },
    /** Leaves the second import out. */
    once: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const millions = Number(values.events)
const format = values.format as LogFormat
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-usage-'))
const log = join(folder, `log.${format}`)
const figures: Record<string, number> = { millions }

try {
  await writeUsageLog({
    file: log,
    format,
    events: Math.round(millions * 1e6),
    keys: 2000,
    accounts: 500,
    models: 40,
  })
  figures.logMb = mb(log)
  const store = await openStore(join(folder, 'usage.duckdb'))
  try {
    figures.importS = await seconds(() => importLog(store))
    figures.importSPerMillion = figures.importS / millions
    await store.execute('CHECKPOINT')
    figures.storeMb = mb(store.path)
    figures.bytesPerEvent = (figures.storeMb * 1e6) / (millions * 1e6)
    figures.peakAfterImportMb = peakMb()
    if (!values.once) {
      figures.againS = await seconds(() => importLog(store))
      figures.peakAfterSecondImportMb = peakMb()
    }
    const pages = { pageByModel: [] as Cost[], pageByKey: [] as Cost[] }
    for (let round = 0; round < 5; round++) {
      pages.pageByModel.push(await cost(() => page(store, 'model')))
      pages.pageByKey.push(await cost(() => page(store, 'key')))
    }
    for (const [name, costs] of Object.entries(pages)) {
      figures[`${name}S`] = median(costs.map(({ wallS }) => wallS))
      figures[`${name}ProcessorS`] = median(costs.map(({ processorS }) => processorS))
    }
    figures.peakAfterPagesMb = peakMb()
  } finally {
    store.close()
  }
  print()
} finally {
  rmSync(folder, { recursive: true })
}

async function importLog(store: Store): Promise<void> {
  const counts = await importUsageLog(store, {
    file: log,
    mapping: ownMapping,
    source: 'gateway',
    format,
    rejectsFile: join(folder, 'rejects.jsonl'),
    nowUs: Date.UTC(2026, 10, 20) * 1000,
  })
  if (counts.rejected > 0) throw new Error(`${counts.rejected} of our own lines were rejected`)
}

async function page(store: Store, by: 'model' | 'key'): Promise<void> {
  await readUsage(store, {
    contract: defaultContract,
    fromUs: null,
    toUs: null,
    timezone: 'America/New_York',
    by,
    runIds: [],
    sources: [],
    nowUs: Date.UTC(2026, 10, 20) * 1000,
    seed: 1,
    grants: [{ name: 'Premium', credits: 2e7, expiresUs: null }],
  })
}

interface Cost {
  readonly wallS: number
  /** Of all threads: what other programs take from the machine does not count. */
  readonly processorS: number
}

async function cost(work: () => Promise<void>): Promise<Cost> {
  const [start, used] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(used)
  return { wallS: (performance.now() - start) / 1000, processorS: (user + system) / 1e6 }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  return (await cost(work)).wallS
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function mb(path: string): number {
  return statSync(path).size / 1e6
}

/** Most memory that this process held so far; 0 where the system does not tell. */
function peakMb(): number {
  try {
    const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))
    return line === null ? 0 : Number(line[1]) / 1000
  } catch {
    return 0
  }
}

function print(): void {
  if (values.json) {
    process.stdout.write(`${JSON.stringify(figures)}\n`)
    return
  }
  const goals: Readonly<Record<string, string>> = {
    pageByModelS: 'under 5 s',
    pageByKeyS: 'under 5 s',
    peakAfterPagesMb: 'under 2,147 MB',
  }
  for (const [name, value] of Object.entries(figures)) {
    process.stdout.write(
      `${name.padEnd(26)}${value.toFixed(value < 100 ? 2 : 0).padStart(10)}  ${goals[name] ?? ''}`.trimEnd() +
        '\n',
    )
  }
}
