import { expect, test } from 'vitest'
import type { NameRow } from '../../src/portal/figures/names.ts'
import { against, changeWithoutDays } from '../../src/portal/page/change.ts'
import type { PageData } from '../../src/portal/page/page-shape.ts'
import { speechOf } from '../../src/portal/page/speech.ts'
import { de } from '../../src/portal/page/words/de.ts'
import { en } from '../../src/portal/page/words/en.ts'
import { es } from '../../src/portal/page/words/es.ts'
import { fr } from '../../src/portal/page/words/fr.ts'
import { ja } from '../../src/portal/page/words/ja.ts'
import { html } from '../../src/user/html.ts'
import { utc } from '../report/usage-events.ts'

const before = { fromUs: utc(2026, 10, 1), toUs: utc(2026, 10, 29) }
const key = { of: 'key', name: 'production', tag: null } as const
const column = { at: 0, unit: 'credits' }

/** A page with one dear day of a key. @param used what the key used on it, of which 10 are usual */
const dataOf = (used: number, data: Partial<PageData> = {}) =>
  ({
    ...{ before, fromUs: utc(2026, 11, 1), toUs: utc(2026, 11, 29) },
    ...{ unit: 'credits', credits: null, ...data },
    units: [{ unit: 'credits', firstUs: null, lastUs: utc(2026, 11, 28) }],
    dears: [
      {
        ...{ fromUs: utc(2026, 11, 18), toUs: utc(2026, 11, 19), unit: 'credits' },
        ...{ amount: String(used + 20), usual: 30, kind: 'weekday' },
        cause: {
          ...{ amount: String(used), names: [key], spans: [], none: [], mostly: null },
          why: [{ of: 'requests', now: 20, usual: 10, amount: used - 10 }],
        },
      },
    ],
  }) as unknown as PageData
const rowOf = (amount: string, previous: string | null): NameRow =>
  ({
    ...{ name: 'production', amounts: [amount], requests: 1 },
    before: previous === null ? null : { requests: 1, amounts: [previous], isNew: false },
  }) as unknown as NameRow
const plain = (text: string) => text.replace(/<[^>]*>/g, '').replace(/[\s\u202f]+/g, ' ')

test.each([
  ['en', en, '+44% without the extra use of Nov 18', '+142% vs. Oct 1 – 28'],
  ['de', de, '+44 % ohne Mehrnutzung vom 18. Nov.', '+142 % gegenüber 1.–28. Okt.'],
  ['fr', fr, '+44 % sans le surplus du 18 nov.', '+142 % vs 1er–28 oct.'],
  ['es', es, '+44 % sin el uso extra del 18 nov', '+142 % vs. 1–28 oct'],
  ['ja', ja, '11月18日の増加分を除くと+44%', '10/01～10/28比+142%'],
] as const)(
  'a key says since when it changed, and how without its dear day, in %s',
  (locale, words, without, since) => {
    const speech = speechOf(words, { locale, timezone: 'UTC' })
    const data = dataOf(108)
    // 242 beside 100; 98 of them beyond a usual day.
    expect(plain(changeWithoutDays(rowOf('242', '100'), column, data, speech))).toBe(without)
    expect(plain(html`${against(speech.change(1.42), data, speech)}`.text)).toBe(since)
  },
)

test.each([
  [60, 240, '100', 'en', '+90% without the extra use of Nov 18'],
  [59, 240, '100', 'en', ''],
  // Nothing was used before, or it is not known.
  [60, 240, '0', 'en', '25% of it on Nov 18'],
  [60, 240, null, 'en', '25% of it on Nov 18'],
] as const)(
  'a dear day of %i of %i, beside %s before, is said of its key if it is much of it',
  (used, amount, previous, locale, said) => {
    const speech = speechOf(en, { locale, timezone: 'UTC' })
    const row = rowOf(String(amount), previous)
    expect(plain(changeWithoutDays(row, column, dataOf(used), speech))).toBe(said)
    expect(changeWithoutDays({ ...row, name: 'other' }, column, dataOf(used), speech)).toBe('')
  },
)
