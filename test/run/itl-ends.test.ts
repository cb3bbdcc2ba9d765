import { build, encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { expect, onTestFinished, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { checkThreshold } from '../../src/run/judge/thresholds/check.ts'
import { parseThreshold } from '../../src/scenario/threshold.ts'
import { appendAttempts } from '../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../report/attempts.ts'
import { emptyStore } from '../store/opened.ts'

/** A run whose stream has gaps of 50 and 99.99 ms. */
async function streaming(itlMaxUs: number | null) {
  const store = await emptyStore()
  onTestFinished(() => store.close())
  await enterEndedRun(store)
  await appendAttempts(store, [attempt(0, { streamed: 1, contentEvents: 3, itlMaxUs })])
  const gaps = build({
    ...{ lowestDiscernibleValue: 1, highestTrackableValue: 3600e6 },
    numberOfSignificantValueDigits: 3,
  })
  for (const us of [50_000, 99_990]) gaps.recordValue(us)
  await store.rows(
    `INSERT INTO histograms VALUES ('a', 'main', 'steady', 'chat', 'itl', 0, 1000000, 2, from_base64($1))`,
    [encodeIntoCompressedBase64(gaps)],
  )
  const objectives = { ttftUs: null, tpotUs: null, serviceUs: null, responseUs: null }
  return (text: string) => {
    const threshold = parseThreshold(text)
    if (typeof threshold === 'string') throw new Error(threshold)
    return checkThreshold(store, threshold, { runId: 'a', contract: defaultContract, objectives })
  }
}

test('a largest gap below its bound is none above it, by the exact value that streams keep', async () => {
  const check = await streaming(99_990)
  expect(await check('itl.max <= 100ms')).toMatchObject({
    ...{ result: 'held', value: 99_990, interval: [99_990, 99_990] },
  })
  expect(await check('itl.max <= 99ms')).toMatchObject({ result: 'missed' })
})

test('ends of a histogram alone are within their cells, and a bound between is open', async () => {
  const check = await streaming(null)
  expect(await check('itl.max <= 100ms')).toMatchObject({
    ...{ result: 'inconclusive', interval: [99_968, 100_031] },
  })
  expect(await check('itl.max <= 101ms')).toMatchObject({ result: 'held' })
  expect(await check('itl.min >= 50ms')).toMatchObject({ interval: [49_984, 50_015] })
  expect(await check('itl.min >= 49ms')).toMatchObject({ result: 'held' })
})
