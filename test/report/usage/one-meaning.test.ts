import fc from 'fast-check'
import { expect, test } from 'vitest'
import { appendAttempts } from '../../../src/store/attempts/recorder.ts'
import { attempt, enterRun } from '../attempts.ts'
import { enterEvents, utc } from '../usage-events.ts'
import {
  eachField,
  eventsOf,
  expectOneMeaning,
  type Line,
  line,
  someLines,
  threeUnits,
} from './meaning.ts'

const expectOfImports = (lines: readonly Line[]) =>
  expectOneMeaning((store) => enterEvents(store, eventsOf(lines)), lines)

test('each figure of an import has one value everywhere', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const lines = someLines()
  expect(new Set(lines.map(({ type, unit }) => `${type} ${unit}`)).size).toBe(6)
  await expectOfImports(lines)
})

test('what only refunds have an amount in cost nothing that is known, whatever other units cost', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const lines = fc
    .sample(line(['credits']), { numRuns: 3, seed: 8 })
    .map((each) => ({ ...each, account: 'a', tag: null, outcome: 'ok', status: 200 }))
    .map((each, at): Line => {
      if (at === 0) return { ...each, type: 'usage', unit: 'USD', micros: 2e6 }
      if (at === 1) return { ...each, type: 'usage', micros: null }
      return { ...each, type: 'refund', micros: -5e5, ...eachField(() => null) }
    })
  await expectOfImports(lines)
})

test.each([
  ['credits', ['credits']],
  ['one currency', ['EUR']],
  ['two currencies and credits', threeUnits],
])(
  'each figure of imports in %s has one value everywhere, whatever the log',
  { tags: 'whole', timeout: 900_000 },
  async (_, units) => {
    const logs = fc.array(line(units), { minLength: 1, maxLength: 12 })
    await fc.assert(fc.asyncProperty(logs, expectOfImports), {
      numRuns: process.env.NIGHTLY === undefined ? 5 : 60,
      // A log that fails is made smaller for so long; so many logs take less.
      interruptAfterTimeLimit: 600_000,
      markInterruptAsFailure: true,
    })
  },
)

test('each figure of a run has one value everywhere', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const asLine = (at: number, outcome: string, status: number | null): Line => ({
    ...{ atUs: utc(2026, 11, 5) + at * 1e6, account: 'main', model: 'svc-k2' },
    ...{ keyFp: '0123456789ab', endpoint: 'chat', tag: null, outcome, status, unit: 'credits' },
    ...{ micros: outcome === 'ok' ? 1e6 : status === null ? null : 0, type: 'usage' },
    ...eachField(() => null),
    ...{ promptTokens: 10, cachedTokens: 3, cacheWriteTokens: 5, completionTokens: 20 },
    reasoningTokens: 7,
    isBounded: true,
  })
  const lines = [
    asLine(0, 'ok', 200),
    asLine(1, 'aborted', null),
    asLine(2, 'http_error', 500),
    asLine(3, 'http_error', 429),
  ]
  await expectOneMeaning(async (store) => {
    await enterRun(store, 'a', { timeScale: 1 })
    await appendAttempts(
      store,
      lines.map(({ outcome, status }, at) =>
        attempt(at, {
          ...{ outcome: outcome as 'ok', status, dateS: utc(2026, 11, 5) / 1e6 + at },
          ...{ cachedTokens: 3, cacheWriteTokens: 2, cacheWrite1hTokens: 3, reasoningTokens: 7 },
        }),
      ),
    )
  }, lines)
})
