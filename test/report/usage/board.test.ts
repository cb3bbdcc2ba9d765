import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultContract } from '../../../src/contract/default.ts'
import { de } from '../../../src/portal/page/words/de.ts'
import { en } from '../../../src/portal/page/words/en.ts'
import { es } from '../../../src/portal/page/words/es.ts'
import { makeReport } from '../../../src/report/page.ts'
import { drawBars } from '../../../src/report/usage/board/bars.js'
import { choiceOf, fragmentOf, initial, timeText } from '../../../src/report/usage/board/choice.js'
import { drawCumulative } from '../../../src/report/usage/board/cumulative.js'
import { type BoardData, readBoard } from '../../../src/report/usage/board/data.ts'
import { heldRequests } from '../../../src/report/usage/board/held-requests.js'
import { latencyOf } from '../../../src/report/usage/board/latency.js'
import { speechOf } from '../../../src/report/usage/board/speech.js'
import { barsOf, bucketOf, mostBars } from '../../../src/report/usage/board/sums.js'
import type { BarsView, Element, RequestSort, Tree } from '../../../src/report/usage/board/types.ts'
import { viewsOf } from '../../../src/report/usage/board/views.js'
import { weekShades } from '../../../src/report/usage/board/week.js'
import { storeEngine } from '../../../src/report/usage/engine/engine.ts'
import { readUsageIn } from '../../../src/report/usage/read.ts'
import { emptyStore, type Store } from '../../store/opened.ts'
import { seededStore, seedUsage } from '../seeded.ts'
import { enterEvents, usageOptions, utc } from '../usage-events.ts'

const textOf = (tree: Tree): string =>
  typeof tree === 'object' ? tree.children.map(textOf).join(' ') : String(tree)

async function boardOf(
  store: Store,
  change: Parameters<typeof usageOptions>[0] = {},
): Promise<BoardData> {
  return readBoard(store, storeEngine, await readUsageIn(store, usageOptions(change)))
}

let store: Store
let data: BoardData
beforeAll(async () => {
  store = await seededStore({ attempts: 60 })
  await seedUsage(store)
  data = await boardOf(store, {
    ...{ timezone: 'America/New_York', sources: ['gateway'], nowUs: Date.UTC(2026, 2, 15) * 1000 },
  })
})
afterAll(() => store.close())

describe('the board of a usage page', () => {
  test('by account has accounts in its filters, tables and charts', { tags: 'whole' }, async () => {
    const many = await emptyStore()
    try {
      await enterEvents(
        many,
        ['north', 'south'].flatMap((account, at) =>
          Array.from({ length: 5 + at }, (_, day) => ({
            ...{ atUs: utc(2026, 11, 1 + day), account, keyFp: 'k1' },
          })),
        ),
      )
      const board = await boardOf(many, { by: 'account' })
      expect(board.names.key).toEqual(['south', 'north'])
      expect([board.by, board.words.key, board.words.byKey]).toEqual([
        'key',
        'account',
        'By account',
      ])
      expect(board.requests?.key?.filter((each) => each === 1)).toHaveLength(5)
      const { sums } = viewsOf(board, { ...initial(board), key: 'north' })
      expect(sums.requests).toBe(5)
      const chosen = { ...initial(board), key: 'north', by: 'endpoint' as const }
      expect(fragmentOf(board, chosen)).toBe('account=north&by=endpoint')
      expect(choiceOf(board, 'account=north&by=endpoint')).toEqual(chosen)
      expect(fragmentOf({ ...board, by: 'model' }, initial(board))).toBe('by=account')
      expect(choiceOf({ ...board, by: 'model' }, 'by=account').by).toBe('key')
      expect((await boardOf(many, { by: 'key' })).names.key).toEqual(['k1'])
    } finally {
      many.close()
    }
  })

  test('no tick of an axis is rounded, in any language', { tags: 'whole' }, () => {
    const tick = fc.record({
      locale: fc.constantFrom('en', 'en-GB', 'de-DE', 'de-CH', 'fr', 'es', 'ja', 'en-IN'),
      most: fc
        .tuple(fc.constantFrom(1, 1.5, 2, 3, 5, 7.5), fc.integer({ min: -8, max: 14 }))
        .map(([digits, power]) => Number(`${digits}e${power}`)),
      share: fc.constantFrom(0.5, 1),
      currency: fc.constantFrom(null, 'USD', 'JPY', 'INR', 'KWD'),
    })
    fc.assert(
      fc.property(tick, ({ locale, most, share, currency }) => {
        const value = most * share
        const parts = new Intl.NumberFormat(locale).formatToParts(1234.5)
        const sign = (type: string) => parts.find((part) => part.type === type)?.value ?? ''
        const money = currency === null ? null : { currency, perCredit: 1 }
        const text = speechOf({ ...data, locale, money })
          .of('money')
          .compact(value)
        const digits = text.replaceAll(sign('group'), '').replace(sign('decimal'), '.')
        const shown = Number.parseFloat(digits.replace(/^[^\d]*/, ''))
        // The rest is a word for a power of ten.
        const power = Math.log10(value / shown)
        expect([text, Math.abs(power - Math.round(power)) < 1e-9]).toEqual([text, true])
      }),
      { numRuns: 500 },
    )
    const { compact } = speechOf(data)
    expect([0, 0.25, 3.75, 0.0075].map(compact)).toEqual(['0', '0.25', '3.75', '0.0075'])
    // An amount of money has both digits of its cents.
    const euros = speechOf({ ...data, isMoney: true, unit: 'EUR' }).of('credits').compact
    expect([0, 0.25, 0.5, 1, 7.5, 15, 37.5, 1500].map(euros)).toEqual([
      ...['€0', '€0.25', '€0.50', '€1', '€7.50', '€15', '€37.50', '€1.5k'],
    ])
    expect([0.07, 0.0025].map(euros)).toEqual(['€0.07', '€0.0025'])
  })

  test('sums to what the cards of the page say', { tags: 'whole' }, async () => {
    const page = await readUsageIn(
      store,
      usageOptions({
        ...{ timezone: 'America/New_York', sources: ['gateway'] },
        nowUs: Date.UTC(2026, 2, 15) * 1000,
      }),
    )
    const { sums } = viewsOf(data, initial(data))
    const card = (name: string) => page.cards.find((each) => each.name === name)!.value
    expect(sums.requests).toBe(card('requests'))
    expect(sums.credits).toBe(card('credits'))
    expect(sums.input! + sums.output!).toBe(card('tokens'))
    expect(sums.requests).toBeGreaterThan(1000)
  })

  test('every filter limits cards, charts and tables to what the rows of the store have', async () => {
    const choice = {
      ...initial(data),
      model: 'svc-k2',
      endpoint: 'chat',
      metric: 'requests' as const,
    }
    const { sums, views, tables } = viewsOf(data, choice)
    const [row] = await store.rows<{ n: number; failed: number }>(
      `SELECT count(*)::INTEGER AS n, count(*) FILTER (outcome <> 'ok')::INTEGER AS failed FROM usage_shown
       WHERE model = 'svc-k2' AND endpoint = 'chat' AND at_us >= getvariable('usage_from') AND at_us < getvariable('usage_to')`,
    )
    expect([sums.requests, sums.failed]).toEqual([row!.n, row!.failed])
    const [heads, rows] = views.find(({ id }) => id === 'use')!.table()
    expect(heads).toEqual(['time', 'svc-k2'])
    expect(rows.reduce((sum, [, n]) => sum + Number(n ?? 0), 0)).toBe(row!.n)
    expect(textOf(tables.find(({ by }) => by === 'model')!.tree)).toContain(
      row!.n.toLocaleString('en-US'),
    )
    const failures = views.find(({ id }) => id === 'failures')!.table()[1]
    expect(failures.reduce((sum, each) => sum + Number(each[2] ?? 0), 0)).toBe(row!.failed)
  })

  test('a choice comes back from its fragment, and what is unknown there changes nothing', () => {
    fc.assert(
      fc.property(
        fc.record({
          from: fc.integer({ min: data.from, max: data.to - 1 }),
          quarters: fc.nat(3),
          hours: fc.integer({ min: 1, max: 2000 }),
          model: fc.constantFrom('', ...data.names.model),
          key: fc.constantFrom('', ...data.names.key),
          endpoint: fc.constantFrom('', ...data.names.endpoint),
          by: fc.constantFrom('model' as const, 'key' as const, 'endpoint' as const),
          metric: fc.constantFrom(...data.metrics),
        }),
        ({ from: whole, quarters, hours, ...rest }) => {
          const from = whole + quarters / 4
          const choice = { from, to: Math.min(data.to, from + hours), ...rest }
          expect(choiceOf(data, fragmentOf(data, choice))).toEqual(choice)
        },
      ),
    )
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, value) => {
        const fragment = new URLSearchParams({ [name]: value, model: '<img>', from: 'x', to: '9' })
        expect(choiceOf(data, fragment.toString())).toMatchObject({ model: '', to: data.to })
      }),
    )
    expect(fragmentOf(data, initial(data))).toBe('')
    for (const none of ['T99', 'T24', 'T05:60', 'T5.5', 'T05:00Z'].map((end) => `2026-11-02${end}`))
      expect(choiceOf(data, `from=${none}`).from).toBe(data.from)
    for (const none of ['2026-02-30', '2026-11-31', '2026-13-01'])
      expect(choiceOf({ ...data, from: 0, to: 1e6 }, `from=${none}`).from).toBe(0)
  })

  test('a time in the address has its quarter, or is a day; one may lack the minutes', () => {
    expect(choiceOf({ ...data, from: 0, to: 1e6 }, 'from=2026-05-10T13').from).toBe(494_005)
    expect([494_005.5, 494_005, 493_992].map((hour) => timeText(data, hour))).toEqual([
      ...['2026-05-10T13:30', '2026-05-10T13:00', '2026-05-10'],
    ])
  })

  test('any range has at most 400 bars without gaps, and hours up to two days', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -100_000, max: 900_000 }),
        fc.integer({ min: 1, max: 200_000 }),
        (from, hours) => {
          const { name, bars } = barsOf(data, from, from + hours)
          expect(bars.length).toBeLessThanOrEqual(mostBars + 2)
          expect(name === 'hour').toBe(hours <= 48)
          expect(bars[0]!.start).toBeLessThanOrEqual(from)
          expect(bars.at(-1)!.end).toBeGreaterThanOrEqual(from + hours)
          for (const [at, bar] of bars.slice(1).entries()) expect(bar.start).toBe(bars[at]!.end)
        },
      ),
    )
    expect(bucketOf({ ...data, finest: 'week' }, data.from, data.from + 24)).toBe('week')
  })

  test('a bar far above all others is cut, and its value is written', () => {
    const bars = Array.from({ length: 30 }, (_, at) => ({
      ...{ start: at * 24, end: at * 24 + 24, measured: true, open: false },
    }))
    const values = bars.map((_, at) => (at === 12 ? 599 : 18 + (at % 3)))
    const drawn = (some: readonly number[]) =>
      textOf(
        drawBars(
          speechOf(data),
          'x',
          { bucket: 'day', bars, series: [{ name: 'a', values: some }] },
          { width: 600, height: 200 },
        ),
      )
    expect(drawn(values)).toContain('↑ 599')
    expect(drawn(values)).not.toContain('600')
    expect(drawn(values.map((value) => Math.min(value, 40)))).not.toContain('↑')
  })

  test('a bar of up to twelve times the usual one has its true height, and unequal bars never end at one height', () => {
    const heights = (values: readonly number[]) => {
      const bars = values.map((_, at) => ({
        ...{ start: at * 24, end: at * 24 + 24, measured: true, open: false },
      }))
      const chart = drawBars(
        speechOf(data),
        'x',
        { bucket: 'day', bars, series: [{ name: 'a', values }] },
        { width: 1000, height: 240 },
      ) as Element
      const drawn = chart.children.find(
        (each) => typeof each === 'object' && each.attributes.class === 's1',
      ) as Element
      const tops = [...String(drawn.attributes.d).matchAll(/ ([\d.]+)V([\d.]+)h/g)]
      return tops.map(([, floor, top]) => Number(floor) - Number(top))
    }
    const usual = (value: number) =>
      Array.from({ length: 28 }, (_, at) => (at % 7 < 2 ? value / 8 : value))
    for (const [value, most, second] of [
      ...[[190, 919, 230] as const, [9.2, 48.7, 21.7] as const, [3.1, 35.95, 3.95] as const],
    ]) {
      const all = usual(value).with(18, most).with(25, second)
      const drawn = heights(all)
      expect(drawn[18]! / drawn[3]! / (most / value)).toBeCloseTo(1, 1)
      expect(drawn[25]! / drawn[18]!).toBeCloseTo(second / most, 2)
    }
    // Beyond that, the highest alone is cut, and the axis reaches the second one.
    for (const [most, second] of [
      [900, 200],
      [900, 880],
      [900, 15],
    ] as const) {
      const drawn = heights(usual(10).with(18, most).with(25, second))
      expect(drawn[18]).toBeGreaterThan(drawn[25]!)
      expect(drawn[25]! / drawn[3]!).toBeGreaterThan(second / 12)
    }
  })

  test('the words over two high bars side by side are apart, and each has its marks once', () => {
    const bars = Array.from({ length: 30 }, (_, at) => ({
      ...{ start: at * 24, end: at * 24 + 24, measured: true, open: false },
    }))
    const values = bars.map((_, at) => (at === 12 ? 599 : at === 13 ? 450 : 18))
    const tree = drawBars(
      speechOf(data),
      'x',
      {
        ...{ bucket: 'day', bars, series: [{ name: 'a', values }] },
        marks: [
          { rank: 1, bar: 13 },
          { rank: 2, bar: 12 },
          { rank: 3, bar: 12 },
        ] as never,
      },
      { width: 600, height: 200 },
    )
    const over = (tree as Element).children.filter(
      (each) => typeof each === 'object' && each.attributes.class === 'b-cut',
    ) as Element[]
    expect(over.map(({ children }) => children[0])).toEqual(['▾2 ▾3', '▾1'])
    const [left, right] = over.map(({ attributes }) => Number(attributes.x))
    // A sign is about seven wide, and five are in the words on the left.
    expect(right! - left!).toBeGreaterThan(5 * 7)
    // They are over their bars, which are about 18 wide.
    expect(Math.abs(right! - (52 + 13 * 18.3))).toBeLessThan(30)
  })

  test('the bar of a dear day says its amount, once where the bar is cut, and not of requests', () => {
    const bars = Array.from({ length: 10 }, (_, at) => ({
      ...{ start: at * 24, end: at * 24 + 24, measured: true, open: false },
    }))
    const over = (values: readonly number[], dear: number | null, mark?: number) => {
      const series = [{ name: 'one', values }]
      const marks = mark === undefined ? [] : [{ rank: 1, bar: mark }]
      const dears = dear === null ? [] : [{ hour: dear, lines: [], said: '' }]
      const drawn = { bucket: 'day' as const, bars, series, marks, dears }
      const chart = drawBars(speechOf(data), 'use', drawn, { width: 660, height: 200 })
      return (chart as Element).children.flatMap((each) =>
        typeof each === 'object' && /^b-(cut|dear)$/.test(String(each.attributes.class))
          ? [[each.attributes.class, each.children[0]]]
          : [],
      )
    }
    const values: readonly number[] = bars.map((_, at) => (at === 3 ? 30 : 10))
    expect(over(values, 72)).toEqual([['b-dear', '30']])
    // The lines are at 14 and 95: no word is on one of them.
    const yOf = (value: number) => {
      const drawn = {
        ...{ bucket: 'day' as const, bars, dears: [{ hour: 72, lines: [], said: '' }] },
        series: [{ name: 'one', values: values.with(3, value).with(5, 50) }],
      }
      const chart = drawBars(speechOf(data), 'use', drawn, { width: 660, height: 200 }) as Element
      const found = chart.children.find(
        (each) => typeof each === 'object' && each.attributes.class === 'b-dear',
      ) as Element
      return Number(found.attributes.y)
    }
    expect([50, 48.7, 40, 24].map(yOf)).toEqual([10, 11, 42.4, 92])
    expect(over(values, 72, 3)).toEqual([['b-dear', '30 ▾1']])
    expect(over(values, null)).toEqual([])
    expect(over(values.with(3, 300), 72)).toEqual([['b-dear', '↑ 300']])
    expect(over(values.with(3, 0), 72)).toEqual([])
    const day = Math.floor(data.cells.hour[0]! / 24) * 24
    const shown = (metric: 'credits' | 'requests') => {
      const choice = { ...initial(data), metric, from: data.from, to: data.to }
      const dears = [{ hour: day, lines: [], said: '' }]
      const [use] = viewsOf({ ...data, dears }, choice).views
      return JSON.stringify(use!.tree).includes('b-dear')
    }
    expect([shown('credits'), shown('requests')]).toEqual([true, false])
  })

  test('why a day was dear stands beside its bar, where no bar and no other words are', () => {
    const bars = Array.from({ length: 28 }, (_, at) => ({
      ...{ start: at * 24, end: at * 24 + 24, measured: true, open: false },
    }))
    const besides = (
      width: number,
      dears: readonly number[],
      lines: readonly string[],
      amounts: readonly number[] = [],
    ) => {
      const values = bars.map((_, at) =>
        dears.includes(at) ? (amounts[dears.indexOf(at)] ?? 100) : 20,
      )
      const chart = drawBars(
        speechOf(data),
        'use',
        {
          ...{ bucket: 'day' as const, bars, series: [{ name: 'one', values }] },
          dears: dears.map((at) => ({ hour: at * 24, lines, said: '' })),
        },
        { width, height: 200 },
      ) as Element
      return chart.children.flatMap((each) =>
        typeof each === 'object' && String(each.attributes.class).includes('b-why')
          ? [{ ...each.attributes, text: each.children[0] as string }]
          : [],
      ) as { x: number; y: number; text: string; 'text-anchor': string }[]
    }
    const lines = ['4.7 times as much', 'key “staging”', 'text-large']
    for (const width of [1000, 320]) {
      const step = (width - 52) / 28
      const early = besides(width, [3], lines)
      // On a phone, the cause and who it is alone.
      expect(early.map(({ text }) => text)).toEqual(width === 320 ? lines.slice(0, 2) : lines)
      expect(early.map(({ y }) => y)).toEqual(width === 320 ? [26, 40] : [26, 40, 54])
      expect(early.every((each) => each['text-anchor'] === 'start')).toBe(true)
      expect(Number(early[0]!.x)).toBeGreaterThan(52 + 4 * step)
      // At the end of the chart, they stand before it.
      const late = besides(width, [26], lines)
      expect(late.every((each) => each['text-anchor'] === 'end')).toBe(true)
      expect(Number(late[0]!.x)).toBeLessThan(52 + 26 * step)
    }
    // Two days side by side turn away from each other.
    const two = besides(1000, [12, 13], lines)
    expect(two.map((each) => each['text-anchor'])).toEqual([
      ...['end', 'end', 'end'],
      ...['start', 'start', 'start'],
    ])
    // Where words would be written over those of another day, they are left out.
    expect(besides(320, [17, 24], lines)).toHaveLength(2)
    // But the cause and who it is, before the lines after them.
    expect(besides(1000, [26, 27], lines)).toHaveLength(3)
    const more = [...lines, 'a second cause', 'and its figures, before and now']
    const few = besides(1000, [10, 22], more, [100, 40]).map(({ text }) => text)
    expect(few.slice(0, 6)).toEqual([...more.slice(0, 4), 'and its figures,', 'before and now'])
    // The second bar is too high for all of them above it.
    expect(few.slice(6)).toEqual(more.slice(0, 4))
    // Words that are lower than those of another day are in nobody's way.
    expect(besides(1000, [18, 24], lines, [100, 60])).toHaveLength(6)
    // A third one says it when it is pointed at, and a word without room is left out.
    expect(besides(1000, [3, 12, 20], lines)).toHaveLength(6)
    const textsOf = (width: number, some: readonly string[]) =>
      besides(width, [14], some).map(({ text }) => text)
    expect(textsOf(1000, ['times', 'short', 'x'.repeat(90)])).toEqual(['times', 'short'])
    expect(textsOf(1000, ['times', 'x'.repeat(90)])).toEqual([])
    // A long line is several ones.
    expect(textsOf(320, ['times', 'Wednesday: 4.7 times a usual day'])).toEqual([
      ...['times', 'Wednesday: 4.7', 'times a usual day'],
    ])
    // Where lower bars are beside a bar and nothing is above it, the words stand above.
    const above = besides(1000, [24], lines, [26])
    expect(above.map(({ y }) => y).every((y) => Number(y) < 100)).toBe(true)
  })

  test('a dear day is explained where its bar is pointed at, and in the table of the chart', () => {
    const day = Math.floor(data.cells.hour[0]! / 24) * 24
    const dears = [{ hour: day, lines: ['4 times a usual day'], said: 'It was key “a”.' }]
    const choice = { ...initial(data), metric: 'credits' as const, from: data.from, to: data.to }
    const useOf = (more: object) =>
      viewsOf({ ...data, dears }, { ...choice, ...more }).views[0] as BarsView
    const use = useOf({})
    const at = use.bars.findIndex(({ start }) => start === day)
    expect(use.bars.map((_, bar) => use.whyOf!(bar)).filter((each) => each !== null)).toEqual([
      'It was key “a”.',
    ])
    expect(use.whyOf!(at)).toBe('It was key “a”.')
    const [heads, rows] = use.table()
    expect([heads.at(-1), rows[at]!.at(-1)]).toEqual(['why', 'It was key “a”.'])
    // Of requests, and of a part of the account, it is no reason.
    for (const other of [{ metric: 'requests' as const }, { model: data.names.model[0]! }]) {
      const view = useOf(other)
      expect(view.bars.every((_, bar) => view.whyOf!(bar) === null)).toBe(true)
      expect(view.table()[0]).not.toContain('why')
    }
  })

  const french = {
    heldLine: 'épuisés à {sum} : {credits} restants',
    budgetLine: 'budget : {amount}, renouvelé le {date}',
    outLine: 'probablement épuisés le {date}',
    now: 'maintenant',
  }
  test.each([
    ['phone', 320, 200, {}],
    ['desk', 1000, 250, {}],
    ['phone in French', 320, 200, french],
    ['desk in French', 1000, 250, french],
  ] as const)(
    'no two words of cumulative use meet, and none is under a line: on a %s',
    (_, width, height, own) => {
      const hour = 24 * 20_000
      const points = Array.from({ length: 29 }, (_, day) => ({
        ...{ hour: hour + day * 24, sum: day * 230 },
      }))
      const future = [0, 30, 60].map((days) => {
        const used = days * 220
        return { hour: hour + (28 + days) * 24, low: used * 0.9, median: used, high: used * 1.1 }
      })
      const span = { from: hour, to: hour + 30 * 24 }
      const expiries =
        own === french ? [40, 43].map((day) => ({ hour: hour + day * 24, credits: 300 })) : []
      // Budgets below, just below, above, and as high as the axis.
      for (const amount of [9000, 19_000, 19_900, 20_000, 6500, 500]) {
        const outlook = {
          ...{ balance: 13_000, budget: { amount, hour: hour + 30 * 24 }, expiries },
          ...{ points: future, runsOut: { hour: hour + 87 * 24 } },
        }
        const size = { width, height, now: hour + 28 * 24 }
        const spoken = speechOf({ ...data, words: { ...data.words, ...own } })
        const chart = drawCumulative(spoken, 'use', span, points, outlook, size) as Element
        const children = chart.children.filter((each) => typeof each === 'object')
        const firstWord = children.findIndex(({ name }) => name === 'text')
        expect(children.slice(firstWord).every(({ name }) => name === 'text')).toBe(true)
        const words = children.filter(({ attributes }) => attributes.class === 'b-word')
        expect(words.length).toBe(4 + expiries.length)
        // A letter of 11 px is at most 6.5 px wide on the mean.
        const boxes = words.map(({ attributes, children: [text] }) => {
          const [x, y, long] = [Number(attributes.x), Number(attributes.y), String(text).length]
          const from = attributes['text-anchor'] === 'end' ? x - long * 6.5 : x
          return { text, from, to: from + long * 6.5, top: y - 9, bottom: y + 3 }
        })
        for (const [at, a] of boxes.entries()) {
          expect([a.text, a.top >= 0 && a.bottom <= height - 14]).toEqual([a.text, true])
          for (const b of boxes.slice(at + 1)) {
            const meets = a.from < b.to && b.from < a.to && a.top < b.bottom && b.top < a.bottom
            expect([amount, a.text, b.text, meets]).toEqual([amount, a.text, b.text, false])
          }
        }
      }
    },
  )

  test('the forecast goes on from the use, and what is held falls where credits expire', {
    tags: 'whole',
  }, async () => {
    const board = await boardOf(store, {
      ...{ sources: ['gateway'], nowUs: Date.UTC(2026, 2, 15) * 1000 },
      grants: [{ name: 'Standard', credits: 8200, expiresUs: Date.UTC(2026, 3, 1) * 1000 }],
    })
    expect(board.outlook).toMatchObject({ balance: 8200 })
    expect(board.outlook!.expiries[0]!.hour).toBe(Date.UTC(2026, 3, 1) / 3.6e6)
    const cumulative = viewsOf(board, initial(board)).views.find(({ id }) => id === 'cumulative')!
    expect(cumulative.title).toBe('Credits used, added up, against what is held')
    expect(textOf(cumulative.tree)).toMatch(/[\d,]+ expire unused/)
    const filtered = viewsOf(board, { ...initial(board), model: 'svc-k2' })
    expect(filtered.views.find(({ id }) => id === 'cumulative')!.title).toBe(
      'Credits used, added up',
    )
  })
})

test.each([
  [de, 1, '1 könnte verfallen'],
  [de, 1000, '1.000 könnten verfallen'],
  [es, 1, '1 puede caducar'],
  [es, 1000, '1000 pueden caducar'],
  [en, 1, '1 may expire'],
] as const)('credits that may expire agree with their number: %#', (words, credits, said) => {
  const locale = words === de ? 'de' : words === es ? 'es' : 'en'
  const spoken = speechOf({
    ...{ ...data, locale, isMoney: false },
    words: { ...data.words, expire: words['board.expire'] },
  })
  const hour = 24 * 20_000
  const outlook = {
    ...{ balance: 13_000, budget: null, runsOut: null },
    expiries: [{ hour: hour + 40 * 24, credits }],
    points: [0, 60].map((days) => {
      const used = days * 20
      return { hour: hour + (28 + days) * 24, low: used, median: used, high: used }
    }),
  }
  const points = [0, 28].map((day) => ({ hour: hour + day * 24, sum: day * 20 }))
  const span = { from: hour, to: hour + 30 * 24 }
  const size = { width: 1000, height: 300, now: hour + 28 * 24 }
  const chart = drawCumulative(spoken, 'use', span, points, outlook, size)
  expect(textOf(chart)).toContain(said)
})

test('a period that begins within its first cell has the sums of that cell', () => {
  const half = { ...data, finest: 'day', from: data.from + 9 } as BoardData
  const hours = half.cells.hour.map((hour) => Math.floor(hour / 24) * 24)
  const days = { ...half, cells: { ...half.cells, hour: hours } }
  expect(viewsOf(days, initial(days)).sums).toEqual(viewsOf(data, initial(data)).sums)
})

test('one request at the start of an hour is in its sum, and a week of few requests is not drawn', {
  tags: 'whole',
}, async () => {
  const own = await emptyStore()
  await enterEvents(own, [{ atUs: utc(2026, 11, 9, 10), credits: 3 }])
  const { html } = await makeReport({
    ...{ store: own, page: 'usage', contract: defaultContract, runIds: [], timeZone: 'UTC' },
    nowUs: utc(2026, 11, 20),
    usage: {
      ...{ contract: null, fromUs: utc(2026, 11, 1), toUs: utc(2026, 11, 20), by: 'model' },
      ...{ sources: [], grants: null },
    },
  })
  const board = await boardOf(own, { fromUs: utc(2026, 11, 1), toUs: utc(2026, 11, 20) })
  own.close()
  const { views } = viewsOf(board, initial(board))
  expect(views.map(({ id }) => id)).not.toContain('week')
  const [, rows] = views.find(({ id }) => id === 'cumulative')!.table()
  expect(rows.at(-1)![1]).toBe(3)
  expect(html).toContain('3 credits used')
})

test('the week shows medians over all whole measured hours, among them those without a request', {
  tags: 'whole',
}, async () => {
  const own = await emptyStore()
  // Three Mondays at 10:00 with 1, 2 and 90 requests.
  const days = [2, 9, 16].flatMap((day, at) =>
    Array.from({ length: [1, 2, 90][at]! }, () => ({ atUs: utc(2026, 11, day, 10) })),
  )
  await enterEvents(own, [{ atUs: utc(2026, 11, 1, 0) }, ...days, { atUs: utc(2026, 11, 22, 23) }])
  const board = await boardOf(own)
  own.close()
  const weekOf = (from: number) => {
    const { views } = viewsOf(board, { ...initial(board), from })
    return views.find(({ id }) => id === 'week')!.table()
  }
  const [, rows] = weekOf(board.from)
  expect(rows[10]!.slice(0, 3)).toEqual(['10:00', 2, 0])
  // A period that begins at half an hour, as an hour of UTC does in Kolkata, has its whole hours.
  expect(weekOf(board.from + 0.5)).toEqual(weekOf(board.from + 1))
})

test('an hour of the week in which more was given back than used has no shade', () => {
  expect(weekShades([-3, null, -1])).toEqual([{ kind: 'h0', least: 0 }])
  expect(weekShades([-3, 7, 0, 1])).toEqual([
    { kind: 'h0', least: 0 },
    { kind: 'h1', least: 1 },
    { kind: 'h7', least: 7 },
  ])
})

test('latency is that of successes, and a percentile with too few of them is not drawn', {
  tags: 'whole',
}, async () => {
  const own = await emptyStore()
  const hour = (at: number, ms: readonly number[], outcome = 'ok') =>
    ms.map((each) => ({ atUs: utc(2026, 11, 1, at), latencyUs: each * 1000, outcome }))
  // 150 of 100 ms and ten of 900 ms; twenty of 300 ms; three of 100 ms; failures.
  const many = Array.from({ length: 160 }, (_, at) => (at < 150 ? 100 : 900))
  await enterEvents(own, [
    ...hour(3, many),
    ...hour(4, Array(20).fill(300)),
    ...hour(5, [100, 100, 100]),
    ...hour(3, Array(500).fill(5), 'http_error'),
  ])
  const board = await boardOf(own)
  own.close()
  const view = (choice = initial(board)) =>
    viewsOf(board, choice, 'desk', latencyOf).views.find(({ id }) => id === 'latency')
  const [heads, rows] = view()!.table()
  expect(heads).toEqual(['time', 'p50', 'p95'])
  const told = rows.slice(3, 6).map(([, p50, p95]) => [p50, p95])
  // Each within 5 %.
  expect(told.flat().map((ms) => (ms === null ? null : Math.round(Number(ms) / 50) * 50))).toEqual([
    ...[100, 900],
    ...[300, null],
    ...[null, null],
  ])
  expect(textOf(view()!.legend!)).toContain('p95')
  const from = initial(board).from + 5
  expect(view({ ...initial(board), from, to: from + 1 })).toBeUndefined()
})

test('tokens by kind are stacked as what is not cached, what is, and what was written', {
  tags: 'whole',
}, async () => {
  const own = await emptyStore()
  await enterEvents(own, [
    { atUs: utc(2026, 11, 1, 3), promptTokens: 100, cachedTokens: 40, completionTokens: 7 },
    { atUs: utc(2026, 11, 1, 3), promptTokens: 10, cachedTokens: null, completionTokens: 3 },
    { atUs: utc(2026, 11, 1, 4), promptTokens: 5, completionTokens: null },
  ])
  const board = await boardOf(own)
  own.close()
  const [heads, rows] = viewsOf(board, initial(board))
    .views.find(({ id }) => id === 'tokens')!
    .table()
  expect(heads).toEqual(['time', 'input', 'cached input', 'output'])
  expect(rows.slice(3, 5).map((row) => row.slice(1))).toEqual([
    [70, 40, 10],
    [5, null, null],
  ])
})

test('an hour opens its requests, the newest first, or by what is known of each', {
  tags: 'whole',
}, async () => {
  const own = await emptyStore()
  await enterEvents(own, [
    { atUs: utc(2026, 11, 1, 3, 20), id: 'r2', model: 'b', credits: 2 },
    { atUs: utc(2026, 11, 1, 3, 10), id: 'r1', model: 'a', keyFp: null, latencyUs: 4000 },
    { atUs: utc(2026, 11, 1, 4, 0), id: 'r3', model: 'a' },
  ])
  const board = await boardOf(own)
  own.close()
  const hour = Date.UTC(2026, 10, 1, 3) / 3.6e6
  const choice = { ...initial(board), from: hour, to: hour + 1 }
  const listed = (some = choice, sort: RequestSort = 'time') =>
    heldRequests(board, some, sort, null)?.rows
  expect(listed()).toEqual([
    ['03:20:00', 'r2', 'b', 'k1', 'chat', '200', null, 10, 20, '2'],
    ['03:10:00', 'r1', 'a', '(unknown)', 'chat', '200', 4, 10, 20, '1'],
  ])
  // What is not known stands last.
  expect(listed(choice, 'duration')?.map(([, id]) => id)).toEqual(['r1', 'r2'])
  expect(listed({ ...choice, model: 'b' })).toHaveLength(1)
  expect(listed(initial(board))?.map(([time]) => time)).toEqual([
    ...['04:00:00', '03:20:00', '03:10:00'],
  ])
})

test('a page that begins within an hour lists the requests of that part of it', async () => {
  const own = await emptyStore()
  await enterEvents(own, [
    { atUs: utc(2026, 11, 1, 3, 50), id: 'r1', model: 'a' },
    { atUs: utc(2026, 11, 1, 4, 0), id: 'r2', model: 'a' },
  ])
  const board = { ...(await boardOf(own)), from: Date.UTC(2026, 10, 1, 3, 45) / 3.6e6 }
  own.close()
  const whole = { ...initial(board), from: board.from }
  const listed = (to: number) =>
    heldRequests(board, { ...whole, to }, 'time', null)!.rows.map(([, id]) => id)
  expect(listed(whole.to)).toEqual(['r2', 'r1'])
  // Its own bar has as many as it counts.
  expect(listed(Date.UTC(2026, 10, 1, 4) / 3.6e6)).toEqual(['r1'])
})

test('a request has its time as its reader writes it, and its amount with its unit and all of its digits', async () => {
  const own = await emptyStore()
  const at = utc(2026, 11, 1, 17, 5)
  await enterEvents(own, [
    { atUs: at, id: 'cents', unit: 'USD', credits: '0.0753' },
    { atUs: at + 1e6, id: 'small', unit: 'USD', credits: '0.000012' },
    { atUs: at + 2e6, id: 'whole', unit: 'USD', credits: '1234.5' },
    { atUs: at + 3e6, id: 'free', unit: 'USD', credits: '0' },
  ])
  const board = await boardOf(own)
  own.close()
  const listed = (locale: string) => {
    const data = { ...board, locale }
    return heldRequests(data, initial(data), 'time', null)!
      .rows.map((row) => [row[0], row.at(-1)])
      .toReversed()
  }
  expect(listed('en')).toEqual([
    ['5:05:00 PM', '$0.0753'],
    ['5:05:01 PM', '$0.000012'],
    ['5:05:02 PM', '$1,234.50'],
    ['5:05:03 PM', '$0.00'],
  ])
  expect(listed('de').slice(0, 1)).toEqual([['17:05:00', '0,0753\u00a0$']])
  const credits = { ...board, isMoney: false, unit: 'credits', locale: 'en' }
  expect(heldRequests(credits, initial(credits), 'time', null)!.rows.at(-1)!.at(-1)).toBe('0.0753')
})

test('an amount in another unit than that of the page is not listed under its head', async () => {
  const own = await emptyStore()
  await enterEvents(own, [
    { atUs: utc(2026, 11, 1, 3, 10), unit: 'EUR', credits: 2 },
    { atUs: utc(2026, 11, 1, 3, 20), unit: 'EUR', credits: 3 },
    { atUs: utc(2026, 11, 1, 3, 30), unit: 'USD', credits: 5 },
  ])
  const board = await boardOf(own)
  own.close()
  expect([board.unit, board.requests?.credits]).toEqual(['EUR', [2, 3, null]])
})

test('where no number of requests is known, cards and tables say so: unknown is never zero', async () => {
  const own = await emptyStore()
  await enterEvents(own, [{ atUs: utc(2026, 11, 3, 9), model: 'nova' }])
  // A provider's sums of an hour without a number of requests.
  await own.execute(
    `INSERT INTO usage_statements BY NAME SELECT 'bill' AS source, '1' AS id, 1 AS statement, 0 AS ingested_us,
       ${utc(2026, 11, 4, 9)} AS start_us, ${utc(2026, 11, 4, 10)} AS end_us, 'model' AS dimensions, 'usage' AS measures,
       'bill' AS model, 'ok' AS outcome, 7 AS credits, 'credits' AS unit`,
  )
  const board = await boardOf(own, { fromUs: utc(2026, 11, 1), toUs: utc(2026, 11, 5) })
  own.close()
  const said = (from: string, to: string) => {
    const { cards, tables } = viewsOf(board, choiceOf(board, `from=${from}&to=${to}`))
    const [, , value] = cards.find(([name]) => name === 'requests')!
    return [value, ...tables.map(({ tree }) => textOf(tree).replace(/\s+/g, ' '))]
  }
  expect(said('2026-11-01', '2026-11-02')).toEqual(['not measured'])
  expect(said('2026-11-03', '2026-11-03T08')).toEqual(['not measured'])
  expect(said('2026-11-03T10', '2026-11-03T12')).toEqual(['0'])
  const [requests, byModel] = said('2026-11-04', '2026-11-05')
  expect(requests).toBe('not measured')
  expect(byModel).toContain('bill 7 –')
})

test('without credits, tokens lead, and no card is empty', { tags: 'whole' }, async () => {
  const own = await emptyStore()
  await enterEvents(own, [{ atUs: utc(2026, 11, 1, 3), credits: null }])
  expect((await boardOf(own)).metrics).toEqual(['tokens', 'requests'])
  const { html } = await makeReport({
    ...{ store: own, page: 'usage', contract: defaultContract, runIds: [], timeZone: 'UTC' },
    nowUs: utc(2026, 11, 2),
  })
  own.close()
  expect(html).toContain('<h3>Tokens by hour</h3>')
  expect(html).not.toContain('<dt>Credits used</dt>')
  expect(html).not.toContain('<dd>not measured')
})

test('a store without usage has a page that says how usage comes into it', async () => {
  const own = await emptyStore()
  const { html, warnings } = await makeReport({
    ...{ store: own, page: 'usage', contract: defaultContract, runIds: [], timeZone: 'UTC' },
    nowUs: utc(2026, 11, 2),
  })
  own.close()
  expect(html).toContain('No usage yet')
  expect(html).toContain('assay import')
  expect(warnings).toEqual([])
})

test('ten years of 7,000 events are a page of less than 1.5 MB, by month', {
  tags: 'whole',
}, async () => {
  const own = await emptyStore()
  await own.execute(`
    INSERT INTO usage_events (source, id, at_us, ingested_us, import_no, model, endpoint, key_fp, account, outcome, status, credits, requests)
    SELECT 'log', 'e' || i, ${utc(2016, 1, 1)} + i * 45000000000, 0, 1, 'm' || i % 7, 'chat', 'k' || i % 300, 'main', 'ok', 200, 1, 1
    FROM range(7000) AS t(i)`)
  const { html } = await makeReport({
    ...{ store: own, page: 'usage', contract: defaultContract, runIds: [], timeZone: 'UTC' },
    nowUs: utc(2026, 1, 1),
    usage: {
      ...{ contract: null, fromUs: utc(2016, 1, 1), toUs: utc(2026, 1, 1), by: 'endpoint' },
      ...{ sources: [], grants: null },
    },
  })
  own.close()
  expect(Buffer.byteLength(html)).toBeLessThan(1_500_000)
  expect(html).toContain('<h3>Credits used by month</h3>')
  // No path is cut, however long.
  const paths = [...html.matchAll(/ d="([^"]*)"/g)].map(([, path]) => path!)
  expect(Math.max(...paths.map(({ length }) => length))).toBeGreaterThan(2500)
  expect(paths.filter((path) => !/^[MLHVhvz\d. -]*$/.test(path))).toEqual([])
  expect(html).toContain('<h2>7,000 credits used; it is not known when credits run out</h2>')
  expect(html.match(/<[a-z]/g)!.length).toBeLessThan(5000)
})
