import { expect, test } from 'vitest'
import { figureText } from '../../src/cli/runs/run-judgement.ts'
import { runJunit } from '../../src/cli/runs/run-junit.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { readPageVerdict } from '../../src/report/page-verdict.ts'
import { levelChange } from '../../src/run/judge/level-test.ts'
import { checkThresholds } from '../../src/run/judge/thresholds/check.ts'
import { run } from '../../src/run/run.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { readSteadiness } from '../../src/store/read/steadiness.ts'
import { attempt, enterRun } from '../report/attempts.ts'
import { openStore } from '../store/opened.ts'
import { answerChat, key, query, startTarget, withStorePath } from './target.ts'

const thresholds = {
  held: 'chat.service.p50 < 10s',
  between: 'chat.service.p50 < 900ms',
  missed: 'chat.service.p50 < 5ms',
  fact: 'not_sent == 0%',
}

const scenario = parseScenario(
  `name: a
question: b
model: svc-k2
steps:
  chat: { endpoint: chat }
phases:
  - { name: steady, load: constant, rate: 150/s, duration: 4s }
thresholds:
${Object.values(thresholds)
  .map((text) => `  - ${text}`)
  .join('\n')}
`,
  'a.yaml',
  defaultContract,
)

/** A run of 600 requests, 100 a second, whose answers take 300 ms, and from the 301st on `laterMs`. */
async function judged(laterMs: number) {
  const store = await openStore(':memory:')
  try {
    await enterRun(store, 'a', { scenarioJson: JSON.stringify(scenario) })
    const rows = Array.from({ length: 600 }, (_, slot) => {
      const intendedUs = slot * 10_000
      const sent = { intendedUs, dispatchedUs: intendedUs, sentUs: intendedUs }
      // Times of a service are never all alike.
      const us = (slot < 300 ? 300 : laterMs) * 1_000 + ((slot * 7_919) % 101) * 200
      const closedUs = intendedUs + us
      return attempt(slot, {
        ...{ ...sent, phase: 'steady', headersUs: closedUs, doneUs: closedUs, closedUs },
      })
    })
    await appendAttempts(store, rows)
    const session = await store.session()
    const steadiness = await readSteadiness(session, 'a')
    const change = levelChange(steadiness.change, Date.UTC(2026, 10, 1, 14, 3, 17))
    const { objectives } = scenario
    const scope = { runId: 'a', contract: defaultContract, objectives }
    return { change, results: await checkThresholds(session, scenario.thresholds, scope, change) }
  } finally {
    store.close()
  }
}

test('a run that gets slower in its middle passes no threshold on what the service did', {
  tags: 'whole',
}, async () => {
  const { change, results } = await judged(2_500)
  expect(change!.text).toMatch(/^chat response 7[0-9]\d % slower from 14:03:20 UTC$/)
  expect(change!.atUs).toBe(3_000_000)
  const of = (text: string) => results.find((each) => each.text === text)!
  expect(of(thresholds.held).result).toBe('inconclusive')
  expect(of(thresholds.between).result).toBe('inconclusive')
  // Both sides of the change miss it.
  expect(of(thresholds.missed)).toMatchObject({ result: 'missed', unsteady: null })
  // What this client sent is a fact.
  expect(of(thresholds.fact).result).toBe('held')
  expect(figureText(of(thresholds.held))).toContain(`not of one level: ${change!.text}`)
})

test('a run of one level says nothing of levels, and its thresholds hold', async () => {
  const { change, results } = await judged(300)
  expect(change).toBeNull()
  expect(results.find(({ text }) => text === thresholds.held)!.result).toBe('held')
})

test('a run judges its own level, and its verdict, JUnit, store and page tell the same', {
  tags: 'whole',
}, async () => {
  const target = await startTarget((_, response) => {
    setTimeout(() => answerChat(response), target.requests > 300 ? 2_500 : 300)
  })
  try {
    await withStorePath(async (dbPath) => {
      const { baseUrl } = target
      const result = await run(scenario, { baseUrl, dbPath, keys: { default: key } })
      const level = result.verdict.tests.find(({ name }) => name === 'level')
      const held = result.thresholds.find(({ text }) => text === thresholds.held)!
      const [stored] = await query<{ json: string }>(
        dbPath,
        'SELECT verdict_json AS json FROM runs',
      )
      const page = readPageVerdict(stored!.json)
      const onPage = {
        level: page.tests.find(({ name }) => name === 'level')?.figure,
        remedy: page.thresholds.find(({ name }) => name === thresholds.held)!.remedy,
      }
      if (level === undefined) {
        // A machine that stalls hides the change, and the run must not tell of one.
        expect(held).toMatchObject({ result: 'held', unsteady: null })
        expect(onPage.level).toBeUndefined()
        return
      }
      expect(level.result).toBe('degraded')
      expect(result.verdict.verdict).not.toBe('valid')
      expect(held).toMatchObject({ result: 'inconclusive', unsteady: level.figure })
      const why = `not of one level: ${level.figure}`
      expect(runJunit(result, new Date(0))).toContain(why)
      expect(onPage).toEqual({ level: expect.stringContaining(level.figure), remedy: why })
    })
  } finally {
    target.close()
  }
})
