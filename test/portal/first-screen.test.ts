import { afterEach, expect, test } from 'vitest'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'
import { twoCurrencies } from './two-currencies.ts'

let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const textOf = (html: string) =>
  html
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')
    .replaceAll(' ,', ',')
const part = (page: string, from: RegExp) =>
  new RegExp(`${from.source}[\\s\\S]*?</(section|dl)>`).exec(page)![0]

async function pageOf(
  events: readonly (EventChange & { atUs: number })[],
  account: string,
  query = '',
  more = '',
): Promise<string> {
  await service?.close()
  service = await served([], settingsOf(more), (store) => enterEvents(store, events))
  const answer = await service.ask(`/page${query}`, await tokenOf(account))
  expect(answer.status).toBe(200)
  return answer.text()
}

/** Cells of a table of names: the name, the amount and the requests of each line. */
function linesOf(page: string, by: string): readonly (readonly string[])[] {
  const table = /<table>[\s\S]*<\/table>/.exec(
    part(page, new RegExp(`<section class="card" id="top-${by}">`)),
  )![0]
  return [...table.matchAll(/<tr>([\s\S]*?)<\/tr>/g)]
    .slice(1)
    .map(([, row]) =>
      [...row!.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)]
        .slice(0, 3)
        .map(([, cell]) => textOf(cell!).trim()),
    )
}
const cents = (text: string) => Number(text.replace(/[^\d-]/g, ''))

/** Sums of a log, read by this test alone: whole ten-thousandths. */
function readLog(account: string, unit: string, fromUs: number, toUs: number) {
  const models = new Map<string, number>()
  let refunds = 0
  for (const event of twoCurrencies()) {
    if (event.account !== account || event.unit !== unit) continue
    if (event.atUs < fromUs || event.atUs >= toUs) continue
    const amount = Math.round(Number(event.credits) * 10_000)
    if (event.type === 'refund') refunds += amount
    else models.set(event.model!, (models.get(event.model!) ?? 0) + amount)
  }
  return { models, refunds, total: [...models.values()].reduce((a, b) => a + b, refunds) }
}

test('an account with two currencies and refunds has each for itself, and its lines add up', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const log = twoCurrencies()
  for (const [unit, sign] of [
    ['EUR', '€'],
    ['USD', '$'],
  ] as const) {
    const page = await pageOf(log, 'acct-4', `?from=2026-10-01&to=2026-11-29&unit=${unit}`)
    const { models, refunds, total } = readLog('acct-4', unit, utc(2026, 10, 1), utc(2026, 11, 29))
    const euros = (amount: number) =>
      new Intl.NumberFormat('en', { style: 'currency', currency: unit }).format(amount / 10_000)
    expect(textOf(part(page, /<dl class="figures answers">/))).toContain(` ${euros(total)} `)
    const lines = linesOf(page, 'model')
    expect(lines.map(([name]) => name).sort()).toEqual(
      [...models.keys(), 'Refunds', 'Total'].sort(),
    )
    const body = lines.filter(([name]) => name !== 'Total')
    expect(body.reduce((sum, [, amount]) => sum + cents(amount!), 0)).toBe(
      cents(lines.find(([name]) => name === 'Total')![1]!),
    )
    for (const [name, amount] of body) {
      const exact = name === 'Refunds' ? refunds : models.get(name!)!
      expect(Math.abs(cents(amount!) - exact / 100)).toBeLessThanOrEqual(1)
    }
    // Axis, table and figure have one currency; the other is a link.
    expect(page).toContain(`${sign}`)
    const board = JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as {
      unit: string
      cells: { credits: (number | null)[] }
    }
    expect(board.unit).toBe(unit)
    expect(
      Math.round(board.cells.credits.reduce<number>((sum, each) => sum + (each ?? 0), 0) * 10_000),
    ).toBe(total)
  }
  const none = await service!.ask('/page?unit=GBP', await tokenOf('acct-4'))
  expect(none.status).toBe(404)
  expect(await none.text()).toContain('data-error="no-such-unit"')
})

test('the first screen says why a day was dear, and by which model and key', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const page = await pageOf(
    twoCurrencies(),
    'acct-0',
    '',
    "accounts: { acct-0: { budget: { amount: '10000', unit: EUR } } }\n",
  )
  const state = textOf(part(page, /<section class="state/))
  expect(state).toMatch(
    /Wednesday, Nov 25: €[\d.]+ instead of about €\d+(?:\.\d+)?, (?:mostly|all of it) [\d, APMand–]+\. Show this day Price of orion-large \d+× \(“key \d”\) orion-large: €[\d.,]+ instead of €[\d.,]+ for a million tokens .* (?:[\d.]+%|All) of that day’s cost: “key \d” with orion-large, /,
  )
  expect(page).toContain('href="?from=2026-11-25&#38;to=2026-11-26&#38;unit=EUR"')
  expect(textOf(part(page, /<dl class="figures answers">/))).toMatch(
    / To pay for November about €\d+ €[\d.]+ above usual price likely €\d+ to €[\d,]+ An estimate, not an invoice\. Budget for November €[\d.]+ of €10,000\.00 resets on Dec 1 /,
  )
})

test('a month of 20 models and 200 keys has days, and every model and key is in a table', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const many = Array.from({ length: 28 * 200 * 2 }, (_, at) => {
    const [day, key, half] = [at % 28, Math.floor(at / 28) % 200, Math.floor(at / 5600)]
    return {
      atUs: utc(2026, 11, 1) + day * 86_400e6 + (key % 24) * 3600e6 + half * 60e6,
      account: 'a',
      keyFp: String(key).padStart(12, '0'),
      model: `model-${(key + day * half) % 20}`,
      credits: '0.25',
      unit: 'EUR',
    }
  })
  const page = await pageOf(many, 'a')
  const board = JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as {
    finest: string
    folded: Record<string, number>
    names: Record<string, string[]>
    cells: { hour: number[]; credits: number[] }
  }
  expect(board.finest).toBe('day')
  expect(new Set(board.cells.hour.map((hour) => Math.floor(hour / 24))).size).toBe(28)
  expect(board.cells.credits.reduce((sum, each) => sum + each, 0)).toBe(2800)
  // What is folded is counted.
  expect(board.folded.key! + board.names.key!.length - 1).toBe(200)
  expect(board.folded.key).toBeGreaterThan(0)
  expect(textOf(page)).toContain(`Other (`)
  expect(linesOf(page, 'key').filter(([name]) => name!.startsWith('key '))).toHaveLength(200)
  expect(linesOf(page, 'model').filter(([name]) => name!.startsWith('model-'))).toHaveLength(20)
  expect(linesOf(page, 'key').at(-1)).toEqual(['Total', '€2,800.00', '11,200'])
})

test('where no figure says the period, the heading does', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const events = Array.from({ length: 20 }, (_, at) => ({
    ...{ atUs: utc(2026, 11, 9 + at, 9), account: 'a', unit: 'EUR' },
    ...(at < 19 ? { credits: '1', model: 'paid' } : { credits: null, model: 'free' }),
  }))
  const page = await pageOf(events, 'a', '?model=free')
  expect(textOf(page)).toContain(' a · November 1, 2026 to November 28, 2026 ')
  expect(textOf(await pageOf(events, 'a'))).not.toContain('November 1, 2026 to')
})

test('a month is compared with the same days of the month before', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const page = await pageOf(
    [
      { atUs: utc(2026, 10, 1, 1), account: 'a', credits: 10 },
      { atUs: utc(2026, 10, 27, 23), account: 'a', credits: 10 },
      { atUs: utc(2026, 10, 30), account: 'a', credits: 500 },
      { atUs: utc(2026, 11, 1, 1), account: 'a', credits: 30 },
      { atUs: utc(2026, 11, 27, 23, 50), account: 'a', credits: 10 },
    ],
    'a',
  )
  expect(textOf(page)).toContain('+100% vs. Oct 1 – 28')
})

test.each([
  ['more than', '-9'],
  ['exactly', '-4'],
])(
  'an account that got back %s what it used has a page',
  { tags: 'whole', timeout: 60_000 },
  async (_, refund) => {
    const day = (at: number, credits: string, type: 'usage' | 'refund') => ({
      ...{ atUs: utc(2026, 11, at, 9), account: 'a', credits, unit: 'EUR', type },
      ...(type === 'refund' ? { keyFp: null, endpoint: null, model: null, requests: 0 } : {}),
    })
    const page = await pageOf(
      [
        ...[day(3, '1', 'usage'), day(4, '2', 'usage'), day(9, '1', 'usage')],
        day(6, refund, 'refund'),
      ],
      'a',
      '?from=2026-11-01&to=2026-12-01',
    )
    expect(textOf(page)).toContain(` ${refund === '-9' ? '-€5.00' : '€0.00'} `)
    expect(textOf(page)).not.toContain('NaN')
  },
)
