import { expect, onTestFinished, test } from 'vitest'
import { keepMetrics } from '../../src/exporter/keep.ts'
import { openStore } from '../store/opened.ts'

test('times with a fraction of a microsecond are kept as the nearest whole one', async () => {
  const store = await openStore(':memory:')
  onTestFinished(() => store.close())
  const source = { url: 'http://127.0.0.1:1/metrics', kind: null, foundBy: 'given' } as const
  await keepMetrics(
    store,
    'run',
    [{ ...source, families: 1, bytes: 7, needsKey: false }],
    333_333.4,
    {
      scrapes: [{ source: 0, atUs: 1.6, tookUs: 2.4, bytes: 7, border: null, reason: null }],
      series: [],
      points: [],
    },
  )
  expect(await store.rows('SELECT every_us FROM metric_sources')).toEqual([{ every_us: 333_333 }])
  expect(await store.rows('SELECT at_us, took_us, bytes FROM metric_scrapes')).toEqual([
    { at_us: 2, took_us: 2, bytes: 7 },
  ])
})
