import { expect, test } from 'vitest'
import { readUsage } from '../../../src/report/usage/read.ts'
import { importFile } from '../../../src/store/import/import-file.ts'
import { usageOptions } from '../../report/usage-events.ts'
import { openStore } from '../opened.ts'
import {
  added,
  daysOf,
  moreSamples,
  refused,
  saidOf,
  samples,
  sumsOf,
  widthOf,
  zonesOf,
} from './samples.ts'

test.each(samples)(
  '$name: every figure is the expected one in each zone',
  { tags: 'whole', timeout: 60_000 },
  async (sample) => {
    const store = await openStore(':memory:')
    try {
      const { kind, daysIn, days: ownDays, ...figures } = sample.expected
      for (const each of sample.imports) {
        expect(widthOf(await importFile(store, { ...each, check: true }))).toBe(kind)
        expect(await importFile(store, each)).toMatchObject({ rejected: 0 })
      }
      for (const timezone of zonesOf(sample)) {
        const options = usageOptions({ contract: null, timezone })
        const page = timezone === daysIn ? readUsage(store, options) : sumsOf(store, options)
        const { days, ...said } = saidOf(await page)
        expect([timezone, said]).toEqual([timezone, figures])
        const isOwn = timezone === daysIn || kind === 'buckets of 1 day'
        const expected = isOwn ? ownDays : daysOf(sample, timezone)
        if (expected !== null) expect([timezone, days]).toEqual([timezone, expected])
        const sums = Object.values(days)
        if (figures.requests !== null) {
          expect(sums.reduce((sum, [requests]) => sum + (requests ?? 0), 0)).toBe(figures.requests)
        }
        expect(added(sums.map(([, cost]) => cost))).toBe(Object.values(figures.cost)[0] ?? null)
      }
    } finally {
      store.close()
    }
  },
)

test('each further shape of a format holds what is expected', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const store = await openStore(':memory:')
  for (const { name, imports, expected } of moreSamples) {
    for (const each of imports) {
      const imported = await importFile(store, { ...each, check: true })
      if (imported.kind !== 'log' || imported.summary === null) throw new Error(name)
      const { requests, tokens, cost, unknown } = imported.summary
      const kind = widthOf(imported)
      const withoutTokens = tokens.input === null ? 0 : unknown.tokens
      expect({ name, kind, requests, tokens, cost, withoutTokens }).toEqual({
        ...{ name, kind: expected.kind, requests: expected.requests, tokens: expected.tokens },
        ...{ cost: expected.cost, withoutTokens: expected.unknown.tokens },
      })
    }
  }
  store.close()
})

test.runIf(process.env.NIGHTLY !== undefined).each(moreSamples)(
  '$name, another shape of its format: every figure of its page is the expected one',
  async ({ imports, expected: { kind: _, daysIn, ...figures } }) => {
    const store = await openStore(':memory:')
    try {
      for (const each of imports)
        expect(await importFile(store, each)).toMatchObject({ rejected: 0 })
      const options = usageOptions({ contract: null, timezone: daysIn })
      expect(saidOf(await sumsOf(store, options))).toEqual(figures)
    } finally {
      store.close()
    }
  },
  60_000,
)

test.each(refused)('%s ends in the middle, and nothing of it is imported', async (file) => {
  const store = await openStore(':memory:')
  await expect(importFile(store, { file })).rejects.toThrow(
    /cut\.jsonl\.gz ends in the middle \(909 whole lines\)\. Nothing was imported\./,
  )
  expect(await store.rows('FROM usage_events')).toEqual([])
  store.close()
})
