import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { compareRuns } from '../../src/report/compare/compare.ts'
import { summarise } from '../../src/report/summary/summarise.ts'
import { checkThresholds } from '../../src/run/judge/thresholds/check.ts'
import { cutWarmUp, type WarmUp } from '../../src/run/judge/warm-up.ts'
import { parseScenario } from '../../src/scenario/parse.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { readSteadiness, startText } from '../../src/store/read/steadiness.ts'
import { attempt, enterRun } from '../report/attempts.ts'
import { openStore } from '../store/opened.ts'

const scenarioOf = (warmUp: string) =>
  parseScenario(
    `name: a
question: b
model: svc-k2
${warmUp}
steps:
  chat: { endpoint: chat }
phases:
  - { name: main, load: constant, rate: 100/s, duration: 8s }
thresholds:
  - chat.service.mean < 15ms
  - main/chat.service.mean < 15ms
`,
    'a.yaml',
    defaultContract,
  )

/** 800 requests, 100 a second; the first 100 take 60 ms, the others 10 ms. Each 200th row has the wide form. */
async function entered(runId = 'a', coldMs = 60) {
  const store = await openStore(':memory:')
  await enterRun(store, runId, { scenarioJson: JSON.stringify(scenarioOf('')) })
  const rows = Array.from({ length: 800 }, (_, slot) => {
    const intendedUs = slot * 10_000
    const sent = { intendedUs, dispatchedUs: intendedUs, sentUs: intendedUs }
    const us = (slot < 100 ? coldMs : 10) * 1_000 + ((slot * 7_919) % 101) * 20
    const closedUs = intendedUs + us
    return attempt(slot, {
      ...{ ...sent, runId, phase: 'main', headersUs: closedUs, doneUs: closedUs, closedUs },
      ...(slot % 200 === 0 ? { requestBytes: 3e9 } : {}),
    })
  })
  await appendAttempts(store, rows)
  return store
}

test('a cold start is told, with its size and length, and cuts nothing by itself', async () => {
  const store = await entered()
  const { coldStart } = await readSteadiness(await store.session(), 'a')
  expect(coldStart).toMatchObject({ step: 'chat', metric: 'response' })
  // A cut may be a group of five or two too long.
  expect(coldStart!.untilUs).toBeGreaterThanOrEqual(1_000_000)
  expect(coldStart!.untilUs).toBeLessThanOrEqual(1_100_000)
  expect(startText(coldStart!)).toMatch(/^chat response 4\d\d % slower in the first 1(\.1)? s$/)
  expect((await summarise(store, 'a', defaultContract)).all.counts.attempts).toBe(800)
  store.close()
  const level = await entered('a', 10)
  expect((await readSteadiness(await level.session(), 'a')).coldStart).toBeNull()
  level.close()
})

test('warmup: auto moves the first requests to the part warmup, and all figures and thresholds follow', {
  tags: 'whole',
}, async () => {
  const store = await entered()
  const session = await store.session()
  const judged = async () => {
    const { thresholds, objectives } = scenarioOf('')
    const scope = { runId: 'a', contract: defaultContract, objectives }
    return (await checkThresholds(session, thresholds, scope, null)).map(({ result, samples }) => ({
      result,
      samples,
    }))
  }
  expect(await judged()).toEqual([
    { result: 'inconclusive', samples: 800 },
    { result: 'inconclusive', samples: 800 },
  ])
  const before = await session.rows('SELECT * EXCLUDE (part) FROM attempts ORDER BY slot')
  const cut = await cutWarmUp(session, 'a')
  const { untilUs } = (cut as Extract<WarmUp, { kind: 'cut' }>).start
  const count = untilUs / 10_000
  expect(count).toBeGreaterThanOrEqual(100)
  expect(count).toBeLessThanOrEqual(110)
  expect(
    await session.rows(
      'SELECT part, count(*)::INTEGER AS n, min(slot) AS first FROM attempts GROUP BY ALL ORDER BY first',
    ),
  ).toEqual([
    { part: 'warmup', n: count, first: 0 },
    { part: 'steady', n: 800 - count, first: count },
  ])
  // Nothing else of a row changes.
  expect(await session.rows('SELECT * EXCLUDE (part) FROM attempts ORDER BY slot')).toEqual(before)
  expect(await judged()).toEqual([
    { result: 'held', samples: 800 - count },
    { result: 'held', samples: 800 - count },
  ])
  const { all } = await summarise(store, 'a', defaultContract)
  expect(all.counts.attempts).toBe(800 - count)
  expect((await readSteadiness(session, 'a')).coldStart).toBeNull()
  // Cut once more, nothing is left to cut.
  expect(await cutWarmUp(session, 'a')).toMatchObject({ kind: 'not cut', why: null })
  store.close()
})

test('a comparison warns of a run that begins cold', { tags: 'whole' }, async () => {
  const [cold, level] = [await entered('cold'), await entered('level', 10)]
  const { warnings } = await compareRuns(
    { store: level, runId: 'level' },
    { store: cold, runId: 'cold' },
    defaultContract,
  )
  expect(warnings.filter((warning) => warning.includes('begins cold'))).toEqual([
    expect.stringMatching(
      /^run b begins cold: chat response 4\d\d % slower in the first 1(\.1)? s$/,
    ),
  ])
  cold.close()
  level.close()
})
