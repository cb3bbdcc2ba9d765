import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { inSession } from '../../src/store/session/session.ts'
import { assay } from '../e2e/command.ts'
import { type Answer, send } from './independent-client.ts'
import { makeModel, startLlama } from './server.ts'

// llama.cpp's own server, from PyPI: a service that none of us wrote. It is installed at night or by hand.
const isNight = process.env.NIGHTLY !== undefined

let folder = ''
let origin = ''
let stop = () => {}

beforeAll(async () => {
  if (!isNight) return
  folder = mkdtempSync(join(tmpdir(), 'assay-llama-'))
  const model = join(folder, 'tiny.gguf')
  makeModel(model)
  ;({ origin, stop } = await startLlama(model))
}, 600_000)

afterAll(() => {
  stop()
  if (folder !== '') rmSync(folder, { recursive: true, force: true })
})

// Light requests, so that a hold of 800 takes minutes on one core.
const boundMs = 2000
const outputTokens = 8

test.skipIf(!isNight)(
  'the safe rate of llama.cpp holds for a minute by a client that is not ours',
  { timeout: 30 * 60_000 },
  async () => {
    const db = join(folder, 'bench.duckdb')
    const { code, stdout } = await assay([
      ...['bench', origin, '--budget', 'quick', '--for', '15m', '--slo', `ttft.p95 < ${boundMs}ms`],
      ...['--prompt-tokens', '10', '--output-tokens', `${outputTokens}`],
      ...['--db', db, '--out', join(folder, 'bench.html')],
    ]).ended
    process.stdout.write(stdout)
    const { safePerS, computedTokens } = await foundIn(db)
    expect(safePerS).not.toBeNull()
    expect([0, 4]).toContain(code)

    // One word of the client is one token. The server's template and its cache add and spare some, as five seconds tell.
    const computed = ({ promptTokens, cachedTokens }: Answer) => promptTokens - cachedTokens
    const meanOf = (all: readonly Answer[]) =>
      all.reduce((sum, each) => sum + computed(each), 0) / all.length
    const given = { origin, maxTokens: outputTokens, perS: safePerS! }
    const tried = Math.round(computedTokens)
    const few = await send({ ...given, seconds: 5, words: tried })
    const words = Math.round(tried + computedTokens - meanOf(few))
    const answers = await send({ ...given, seconds: 60, words })
    const late = answers.filter(({ ttftMs }) => ttftMs === null || ttftMs > boundMs).length
    const times = answers.map(({ ttftMs }) => ttftMs ?? Infinity).sort((a, b) => a - b)
    process.stdout.write(
      `safe ${safePerS}/s with ${computedTokens.toFixed(1)} prompt tokens outside the cache; independent client: ${answers.length} requests in a minute, ${meanOf(answers).toFixed(1)} such tokens, TTFT p50 ${times[Math.floor(times.length / 2)]!.toFixed(0)} ms, p95 ${times[Math.ceil(times.length * 0.95) - 1]!.toFixed(0)} ms, ${late} late\n`,
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(Math.abs(meanOf(answers) / computedTokens - 1)).toBeLessThan(0.05)
    expect(late / answers.length).toBeLessThanOrEqual(0.05)
  },
)

/** The safe rate that the bench stored, and the prompt tokens of a request that no cache held. */
async function foundIn(db: string) {
  const store = await openStore(db)
  try {
    return await inSession(store, {}, async (session) => {
      const [row] = await session.rows<{ verdict: string; computedTokens: number }>(
        `SELECT (SELECT verdict_json FROM runs) AS verdict, avg(prompt_tokens - cached_tokens) AS "computedTokens"
         FROM attempts WHERE outcome = 'ok'`,
      )
      const [{ safeRate }] = JSON.parse(row!.verdict).sweeps
      const safePerS: number | null = safeRate.kind === 'held' ? safeRate.safePerS : null
      return { safePerS, computedTokens: row!.computedTokens }
    })
  } finally {
    store.close()
  }
}
