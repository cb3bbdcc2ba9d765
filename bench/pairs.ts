/**
 * Two real servers, b slower, whose answers also wait for what both share, which changes from second to second. How often
 * is b found slower by the pairs of one run, and how often by two runs one after the other? `npx node bench/pairs.ts
 * [--runs 8] [--pairs 500,2000] [--slower 1.05]`. It prints a table of both.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultContract } from '../src/contract/default.ts'
import { scenarioFrom } from '../src/public/scenario.ts'
import { compareRuns } from '../src/report/compare/compare.ts'
import { runPair } from '../src/run/pair.ts'
import { RandomStream } from '../src/schedule/random.ts'
import { openStore } from '../src/store/session/open.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '8' },
    pairs: { type: 'string', default: '500,2000' },
    slower: { type: 'string', default: '1.05' },
  },
})
const runs = Number(values.runs)
const ratePerS = 150
/** Median time of an answer, and the spread of its logarithm: shared by both, and of each its own. */
const [middleMs, sharedSpread, ownSpread] = [60, 0.3, 0.2]

const draws = new RandomStream(1, 'pairs')
let drawn = 0
function normal(): number {
  const [one, two] = [1 - draws.at(drawn++), draws.at(drawn++)]
  return Math.sqrt(-2 * Math.log(one)) * Math.cos(2 * Math.PI * two)
}

/** What both share: neighbours of 50 ms are alike, those of 5 s are not. */
let shared = sharedSpread * normal()
const alike = 0.98
const changing = setInterval(() => {
  shared = alike * shared + sharedSpread * Math.sqrt(1 - alike ** 2) * normal()
}, 50)

async function serverOf(slower: number) {
  const body = JSON.stringify({
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'svc-k2' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  })
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      setTimeout(
        () => response.writeHead(200, { 'content-type': 'application/json' }).end(body),
        middleMs * slower * Math.exp(shared + ownSpread * normal()),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const [a, b] = [await serverOf(1), await serverOf(Number(values.slower))]
const folder = mkdtempSync(join(tmpdir(), 'assay-pairs-'))
const pathsOf = (name: string) => ({
  a: join(folder, `${name}-a.duckdb`),
  b: join(folder, `${name}-b.duckdb`),
})
const figures = ['mean', 'p50', 'p95'] as const

/** Whether each figure of b is slower beyond chance, and the half width of its interval in %. */
async function differences(runA: string, runB: string) {
  const [storeA, storeB] = [await openStore(pathsOf(runA).a), await openStore(pathsOf(runB).b)]
  const found = await compareRuns(
    { store: storeA, runId: `${runA}-a` },
    { store: storeB, runId: `${runB}-b` },
    defaultContract,
  )
  storeA.close()
  storeB.close()
  return figures.map((statistic) => {
    const { interval } = found.differences.find(
      (each) => each.metric === 'service' && each.statistic === statistic,
    )!
    const [low, high] = [interval?.[0] ?? -Infinity, interval?.[1] ?? Infinity]
    return { isFound: low > 0, half: (100 * (high - low)) / 2 }
  })
}

const line = (...cells: readonly (string | number)[]) => console.log(`| ${cells.join(' | ')} |`)
line('pairs', 'compared as', ...figures.flatMap((name) => [`${name}: found`, 'half width']))
line(...Array.from({ length: 2 + 2 * figures.length }, () => '---'))
try {
  for (const length of values.pairs.split(',').map(Number)) {
    const names = Array.from({ length: runs + 1 }, (_, nth) => `r${length}-${nth}`)
    for (const [nth, pair] of names.entries()) {
      const scenario = scenarioFrom({
        ...{ name: 'pairs', question: 'Is b slower?', model: 'svc-k2' },
        targets: { a: { base_url: a.baseUrl }, b: { base_url: b.baseUrl } },
        steps: { chat: { endpoint: 'chat' } },
        phases: [{ name: 'steady', load: 'poisson', rate: `${ratePerS}/s`, max_requests: length }],
      })
      const contracts = { a: defaultContract, b: defaultContract }
      const environment = { ASSAY_API_KEY: 'bench' }
      process.env.ASSAY_API_KEY ??= 'bench'
      await runPair(pathsOf(pair), {
        ...{ scenario, pair, seed: nth, contracts, environment },
      })
    }
    // The next run's b came after this run's a: two runs one after the other.
    for (const [as, next] of [
      ['pairs', 0],
      ['two runs', 1],
    ] as const) {
      const told: Awaited<ReturnType<typeof differences>>[] = []
      for (let nth = 0; nth < runs; nth++)
        told.push(await differences(names[nth]!, names[nth + next]!))
      line(
        ...[length, as],
        ...figures.flatMap((_, at) => {
          const halves = told.map((each) => each[at]!.half).toSorted((one, other) => one - other)
          const middle = halves[Math.floor(runs / 2)]!
          return [
            `${told.filter((each) => each[at]!.isFound).length} of ${runs}`,
            Number.isFinite(middle) ? `${middle.toFixed(1)} %` : 'none',
          ]
        }),
      )
    }
  }
} finally {
  clearInterval(changing)
  a.server.close()
  b.server.close()
  rmSync(folder, { recursive: true, force: true })
}
