import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { inSession } from '../../src/store/session.ts'
import { installPython, pythonOf } from '../clients/python.ts'
import { assay } from '../e2e/command.ts'
import { send } from './independent-client.ts'

// llama.cpp's own server, from PyPI: a service that none of us wrote. It is installed at night or by hand.
const isNight = process.env.NIGHTLY !== undefined
const python = pythonOf(import.meta.dirname)

let folder = ''
let origin = ''
let stop = () => {}

beforeAll(async () => {
  if (!isNight) return
  folder = mkdtempSync(join(tmpdir(), 'assay-llama-'))
  installPython(import.meta.dirname)
  const model = join(folder, 'tiny.gguf')
  execFileSync(python, [join(import.meta.dirname, 'model.py'), model])
  const server = spawn(python, [join(import.meta.dirname, 'server.py'), model], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  stop = () => server.kill()
  for (let said = ''; origin === ''; ) {
    const [bytes] = await once(server.stdout, 'data')
    said += String(bytes)
    origin = /http:\/\/[\d.:]+/.exec(said)?.[0] ?? ''
  }
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
    const { safePerS, promptTokens } = await foundIn(db)
    expect(safePerS).not.toBeNull()
    expect([0, 4]).toContain(code)

    // One word of the client is one token; a few requests tell what the server's template adds.
    const given = { origin, maxTokens: outputTokens }
    const few = await send({ ...given, perS: 10, seconds: 2, words: 10 })
    const template = few.reduce((sum, each) => sum + each.promptTokens, 0) / few.length - 10
    const words = Math.round(promptTokens - template)
    const answers = await send({ ...given, perS: safePerS!, seconds: 60, words })
    const late = answers.filter(({ ttftMs }) => ttftMs === null || ttftMs > boundMs).length
    const times = answers.map(({ ttftMs }) => ttftMs ?? Infinity).sort((a, b) => a - b)
    const mean = (of: (answer: (typeof answers)[number]) => number) =>
      answers.reduce((sum, each) => sum + of(each), 0) / answers.length
    process.stdout.write(
      `safe ${safePerS}/s with ${promptTokens.toFixed(1)} prompt tokens; independent client: ${answers.length} requests in a minute, ${mean((each) => each.promptTokens).toFixed(1)} prompt tokens, ${mean((each) => each.cachedTokens).toFixed(1)} of them cached, TTFT p50 ${times[Math.floor(times.length / 2)]!.toFixed(0)} ms, p95 ${times[Math.ceil(times.length * 0.95) - 1]!.toFixed(0)} ms, ${late} late\n`,
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const ratio = mean((each) => each.promptTokens) / promptTokens
    expect(Math.abs(ratio - 1)).toBeLessThan(0.05)
    expect(late / answers.length).toBeLessThanOrEqual(0.05)
  },
)

/** The safe rate that the bench stored, and the prompt tokens of a request. */
async function foundIn(db: string) {
  const store = await openStore(db)
  try {
    return await inSession(store, {}, async (session) => {
      const [row] = await session.rows<{ verdict: string; promptTokens: number }>(
        `SELECT (SELECT verdict_json FROM runs) AS verdict, avg(prompt_tokens) AS "promptTokens"
         FROM attempts WHERE outcome = 'ok'`,
      )
      const [{ safeRate }] = JSON.parse(row!.verdict).sweeps
      const safePerS: number | null = safeRate.kind === 'held' ? safeRate.safePerS : null
      return { safePerS, promptTokens: row!.promptTokens }
    })
  } finally {
    store.close()
  }
}
