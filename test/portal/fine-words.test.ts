import { expect, test } from 'vitest'
import { fineWords } from '../../src/portal/page/fine-words.ts'
import type { PageData } from '../../src/portal/page/page-shape.ts'
import { speechOf } from '../../src/portal/page/speech.ts'
import { de } from '../../src/portal/page/words/de.ts'
import { en } from '../../src/portal/page/words/en.ts'
import { es } from '../../src/portal/page/words/es.ts'
import { fr } from '../../src/portal/page/words/fr.ts'
import { ja } from '../../src/portal/page/words/ja.ts'
import { utc } from '../report/usage-events.ts'

const wordings = { en, de, fr, es, ja }
type Count = readonly [failed: number, all: number]
const october = { fromUs: utc(2026, 10, 1), toUs: utc(2026, 10, 29), timezone: 'UTC' }

/** Of November to noon of the 28th. @param then null if the period before is no measure */
function said(
  now: Count,
  then: Count | null,
  locale: keyof typeof wordings = 'en',
  change: Partial<PageData> = {},
): string {
  const shareOf = ([failed, all]: Count) => (all === 0 ? null : 1 - failed / all)
  const data = {
    ...{ fromUs: utc(2026, 11, 1), toUs: utc(2026, 11, 29) },
    before: then === null ? null : october,
    summary: {
      refreshedAt: '2026-11-28T12:00:00Z',
      requests: { value: String(now[1]), previous: then === null ? null : String(then[1]) },
      successShare: shareOf(now),
      previousSuccessShare: then === null ? null : shareOf(then),
    },
    ...change,
  }
  return fineWords(
    data as unknown as PageData,
    speechOf(wordings[locale], { locale, timezone: 'UTC' }),
  ).replace(/[\u00a0\u202f]/g, ' ')
}
const start = 'Nothing unusual. 3% of your requests failed or reached a limit'

test.each([
  ['the same share', [30, 1000], [60, 2000], ', about the same as last month.'],
  ['a tenth less', [30, 1000], [28, 1000], ', about the same as last month.'],
  [
    'a tenth more of very many, which is no chance',
    [30_000, 1e6],
    [32_000, 1e6],
    ', about the same as last month.',
  ],
  ['much less', [30, 1000], [10, 1000], ', up from 1%.'],
  ['none at all', [30, 1000], [0, 1000], ', up from 0%.'],
  ['much more', [30, 1000], [60, 1000], ', down from 6%.'],
  ['twice as many of few, which may be chance', [3, 100], [6, 100], ', 6% last month.'],
  ['no request', [30, 1000], [0, 0], '.'],
  ['no measure', [30, 1000], null, '.'],
] as const)('failures are said beside the month before: %s', (_, now, then, end) => {
  expect(said(now, then)).toBe(`${start}${end}`)
})

test('shares that are shown alike are the same', () => {
  expect(said([1, 10_000], [4, 10_000])).toBe(
    'Nothing unusual. 0% of your requests failed or reached a limit, about the same as last month.',
  )
})

test.each([
  [
    'en',
    ', about the same as last month.',
    ', up from 1%.',
    ', down from 6%.',
    ', 2.5% last month.',
  ],
  [
    'de',
    ', wie im Vormonat.',
    ', mehr als zuvor (1 %).',
    ', weniger als zuvor (6 %).',
    ', im Vormonat 2,5 %.',
  ],
  [
    'fr',
    ', comme le mois dernier.',
    ', en hausse par rapport à 1 %.',
    ', en baisse par rapport à 6 %.',
    ', 2,5 % le mois dernier.',
  ],
  [
    'es',
    ', como el mes pasado.',
    ', más que el 1 % anterior.',
    ', menos que el 6 % anterior.',
    ', el 2,5 % el mes pasado.',
  ],
  ['ja', '（先月と同じ）。', '（1%から増加）。', '（6%から減少）。', '（先月は2.5%）。'],
] as const)('in %s', (locale, ...ends) => {
  for (const [at, then] of (
    [
      [30, 1000],
      [10, 1000],
      [60, 1000],
    ] as const
  ).entries())
    expect(said([30, 1000], then, locale)).toMatch(
      new RegExp(`${ends[at]!.replace(/[().]/g, '\\$&')}$`),
    )
})

test('of a period that is not the month of now, the days before are said', () => {
  const of = (fromUs: number, toUs: number, beforeUs: number) =>
    said([30, 1000], [30, 1000], 'en', {
      ...{ fromUs, toUs },
      before: { fromUs: beforeUs, toUs: beforeUs + toUs - fromUs, timezone: 'UTC' },
    })
  expect(of(utc(2026, 11, 22), utc(2026, 11, 29), utc(2026, 11, 15))).toBe(
    `${start}, the same as Nov 15 – 21.`,
  )
  expect(
    said([3, 100], [6, 100], 'en', {
      ...{ fromUs: utc(2026, 11, 22), toUs: utc(2026, 11, 29) },
      before: { fromUs: utc(2026, 11, 15), toUs: utc(2026, 11, 22), timezone: 'UTC' },
    }),
  ).toBe(`${start}, 6% on Nov 15 – 21.`)
  expect(of(utc(2026, 10, 1), utc(2026, 11, 1), utc(2026, 9, 1))).toMatch(/, the same as Sep 1/)
})

test.each([
  ['does not begin with the month', utc(2026, 11, 1, 5.5), utc(2026, 11, 29), utc(2026, 10, 5)],
  ['ended before now', utc(2026, 11, 1), utc(2026, 11, 8), utc(2026, 10, 1)],
  ['is longer than a month', utc(2026, 11, 1), utc(2026, 12, 15), utc(2026, 9, 18)],
  ['is of two months', utc(2026, 11, 1), utc(2027, 1, 1), utc(2026, 9, 1)],
])('a period that %s is not beside the last month', (_, fromUs, toUs, beforeUs) => {
  const before = { fromUs: beforeUs, toUs: beforeUs + 27 * 86_400e6, timezone: 'UTC' }
  const of = (then: Count) => said([3, 100], then, 'en', { fromUs, toUs, before })
  expect(of([3, 100])).toMatch(/, the same as \w+ \d/)
  expect(of([6, 100])).toMatch(/, 6% on \w+ \d/)
})

test('a period of hours is beside the hours before', () => {
  const hour = (at: number) => utc(2026, 11, 10, at)
  const before = { fromUs: hour(20), toUs: hour(21), timezone: 'UTC' }
  const of = { fromUs: hour(21), toUs: hour(22), before }
  expect(said([3, 100], [3, 100], 'en', of)).toBe(`${start}, the same as Nov 10, 8–9 PM.`)
})
