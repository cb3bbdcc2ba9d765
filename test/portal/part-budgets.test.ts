import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { accountView } from '../../src/portal/settings/account-view.ts'
import { parseSettings } from '../../src/portal/settings/settings.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, settingsText, tokenOf } from './portal.ts'

const whole = { tags: 'whole', timeout: 60_000 }
const folder = mkdtempSync(join(tmpdir(), 'assay-budgets-'))
afterAll(() => rmSync(folder, { recursive: true }))
let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const keys = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'] as const
/** Four credits at six hours of each day from 1 October to noon of 28 November: each second of the key `a`, each third of the team `search`. */
const events = Array.from({ length: 58 * 6 + 3 }, (_, at) => ({
  atUs: utc(2026, 10, 1, 1) + at * 4 * 3600e6,
  ...{ account: 'a', credits: '4', keyFp: keys[at % 2]! },
  tags: `{"team":"${at % 3 === 0 ? 'search' : 'chat'}"}`,
}))
const november = events.filter(({ atUs }) => atUs >= utc(2026, 11, 1))
const used = (of: (event: (typeof events)[number]) => boolean) => 4 * november.filter(of).length
const ofKey = used(({ keyFp }) => keyFp === keys[0])
const ofTeam = used(({ tags }) => tags.includes('search'))

const budget = `[{ amount: '1000' }, { amount: '200', key: ${keys[0]} }, { amount: '230', tag: 'team:search' }, { amount: '240', tag: 'team:search' }]`
const serving = async (more = '', own = '', post?: (body: string) => void) => {
  service = await served(
    [],
    settingsOf(`${more}accounts: { a: { ${own}budget: ${budget} } }\n`),
    (store) => enterEvents(store, events),
    60_000,
    post === undefined
      ? {}
      : {
          post: async (_, __, body) => {
            post(body)
            return 204
          },
        },
  )
  return service
}
const plainOf = (html: string) =>
  html
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replace(/[\s\u202f]+/g, ' ')

interface Budgets {
  readonly budgets: readonly Readonly<Record<string, unknown>>[]
}
const budgetsOf = async (claims: Readonly<Record<string, unknown>> = {}) => {
  const answer = await service!.ask('/v1/budgets', await tokenOf('a', claims))
  return ((await answer.json()) as Budgets).budgets
}

test(
  'a budget of a key or a tag counts its use alone, and crosses by its share of the forecast',
  whole,
  async () => {
    await serving()
    const found = await budgetsOf()
    expect(found.map((each) => [each.key, each.tag, each.amount, each.used])).toEqual([
      [null, null, '1000', String(4 * november.length)],
      ['key 1', null, '200', String(ofKey)],
      [null, 'team:search', '230', String(ofTeam)],
      [null, 'team:search', '240', String(ofTeam)],
    ])
    // The team uses eight credits a day: from 220, 230 are reached on the 29th, and 240 on the last day.
    expect(ofTeam).toBe(220)
    expect(found.map(({ crosses }) => crosses)).toEqual([null, null, '2026-11-29', '2026-11-30'])
  },
)

test('a token sees the budgets of what it shows alone', whole, async () => {
  await serving()
  const seen = async (claims: Readonly<Record<string, unknown>>) =>
    (await budgetsOf(claims)).map(({ amount }) => amount)
  expect(await seen({ keys: [keys[0]] })).toEqual(['200'])
  expect(await seen({ keys: [keys[1]] })).toEqual([])
  expect(await seen({ keys: [] })).toEqual([])
  expect(await seen({ shows: ['credits', 'keys'] })).toEqual(['1000', '200'])
  expect(await seen({ shows: ['credits', 'tags'] })).toEqual(['1000', '230', '240'])
  expect(await seen({ shows: ['credits'] })).toEqual(['1000'])
  expect(await seen({ shows: ['cost', 'keys', 'tags'] })).toEqual([])
  const page = await (
    await service!.ask('/page', await tokenOf('a', { shows: ['credits', 'models'] }))
  ).text()
  expect(plainOf(page)).not.toMatch(/Over budget|search|of 200/)
})

test.each([
  ['en', `Over budget (key 1): ${ofKey} of 200 credits this month. See`],
  ['de', `Über dem Budget (key 1): ${ofKey} von 200 Credits in diesem Monat.`],
  ['fr', `Budget dépassé (key 1) : ${ofKey} sur 200 crédits ce mois-ci.`],
  ['es', `Presupuesto superado (key 1): ${ofKey} de 200 créditos este mes.`],
  ['ja', `予算超過（key 1）：今月200クレジット中${ofKey}。`],
])('a budget that is used up is the first line, in red, in %s', whole, async (locale, said) => {
  const { ask } = await serving('', `locale: ${locale}, `)
  const page = await (await ask('/page', await tokenOf('a'))).text()
  const state = /<section class="state fail">[\s\S]*?<\/section>/.exec(page)![0]
  expect(plainOf(state)).toContain(said.replace(' See', ''))
})

test(
  'the line of a budget links to the keys of its period, also beside a dear day, the worst first',
  whole,
  async () => {
    const dear = { atUs: utc(2026, 11, 20, 9), account: 'a', credits: '500', keyFp: keys[1] }
    const budgets = `[{ amount: '900' }, { amount: '100' }, { amount: '50', tag: 'team:search' }]`
    service = await served([], settingsOf(`accounts: { a: { budget: ${budgets} } }\n`), (store) =>
      enterEvents(store, [...events, dear]),
    )
    const page = await (await service.ask('/page', await tokenOf('a'))).text()
    const state = /<section class="state fail">[\s\S]*?<\/section>/.exec(page)![0]
    const all = used(() => true) + 500
    const lines = [...plainOf(state).matchAll(/Over budget[^.]*\./g)].map(([line]) => line)
    expect(lines).toEqual([
      `Over budget: 1,160 of 100 credits this month.`,
      'Over budget (Team search): 220 of 50 credits this month.',
      `Over budget: 1,160 of 900 credits this month.`,
    ])
    expect(all).toBe(1160)
    expect(plainOf(state)).toContain('Friday, Nov 20')
    const [first] = [...state.matchAll(/href="([^"]*)"[^>]*>([^<]*)</g)].map(([, href, text]) => [
      href!.replaceAll('&#38;', '&'),
      text,
    ])
    expect(first).toEqual(['?from=2026-11-01&to=2026-11-29&by=key', 'See which key'])
    const keysOf = await service.ask(`/page${first![0]}`, await tokenOf('a'))
    expect(keysOf.status).toBe(200)
  },
)

/** The links of the state above the figures, with what they say. */
const linksOf = (page: string) =>
  [
    .../<section class="state [\s\S]*?<\/section>/
      .exec(page)![0]
      .matchAll(/href="(\?[^"]*)"[^>]*>([^<]*)</g),
  ].map(([, href, text]) => [href!.replaceAll('&#38;', '&'), text] as const)

const inEuros = [8, 9].map((hour) => ({
  ...{ atUs: utc(2026, 11, 28, hour), account: 'a', credits: '1', unit: 'EUR' },
}))
test.each([
  ['money, of credits with a price', events, { amount: '0.5', unit: 'EUR' }, null],
  ['money, of both', [...events, ...inEuros], { amount: '0.5', unit: 'EUR' }, 'EUR'],
  ['credits, beside euros', [...events, ...inEuros], { amount: '5' }, 'credits'],
] as const)(
  'the link of a budget in %s leads to a view of its unit',
  whole,
  async (_, entered, of, unit) => {
    const settings = settingsOf(`accounts: { a: { budget: [${JSON.stringify(of)}] } }\n`)
    service = await served([], settings, (store) => enterEvents(store, entered))
    const token = await tokenOf('a')
    const [first] = linksOf(await (await service.ask('/page', token)).text())
    expect(first![1]).toBe('See which key')
    expect(new URLSearchParams(first![0]).get('unit')).toBe(unit)
    expect((await service.ask(`/page${first![0]}`, token)).status).toBe(200)
  },
)

test(
  'a budget of a key that was not used yet has the name of the settings, and no estimate',
  whole,
  async () => {
    const names =
      '{ eeeeeeeeeeee: batch, cccccccccccc: batch, bbbbbbbbbbbb: search, dddddddddddd: key 1, 999999999999: search }'
    const budgets = ['batch', 'ffffffffffff', 'search', 'key 1'].map((key, at) => ({
      ...{ amount: String(1001 + at), key },
    }))
    const settings = settingsOf(`accounts: { a: { budget: ${JSON.stringify(budgets)} } }\n`)
    service = await served(
      [],
      {
        ...settings,
        keyNames: parseSettings(
          settingsText.replace(/^keyNames: .*$/m, `keyNames: ${names}`),
          's.yaml',
        ).keyNames,
      },
      (store) => enterEvents(store, events),
    )
    const found = await budgetsOf()
    const other = String(used(({ keyFp }) => keyFp === keys[1]))
    expect(found.map((each) => [each.key, each.used])).toEqual([
      ['batch', '0'],
      ['ffffffffffff', '0'],
      ['search', other],
      ['key 1', '0'],
    ])
    expect(await budgetsOf({ keys: ['eeeeeeeeeeee'] })).toHaveLength(1)
    const page = plainOf(await (await service.ask('/page', await tokenOf('a'))).text())
    expect(page).not.toContain('a new key')
    const [, batch] = /\(batch\)(.*?)resets/.exec(page)!
    expect(batch).toContain('0 of 1,001 credits')
    expect(batch).not.toContain('probably')
  },
)

test(
  'an alert of a budget names its key or tag, and is not sent if the settings do not show them',
  whole,
  async () => {
    const alerts = (name: string) =>
      `alerts: { file: ${join(folder, name)}, webhooks: [{ url: 'https://app.example.com', secretEnv: USAGE_WEBHOOK_SECRET }] }\n`
    const told = async (more: string) => {
      const bodies: { type: string; data: Readonly<Record<string, unknown>> }[] = []
      const { portal } = await serving(more, '', (body) => bodies.push(JSON.parse(body)))
      await portal.alert()
      await portal.deliver()
      await new Promise((resolve) => setTimeout(resolve, 300))
      await service!.close()
      service = undefined
      return bodies
        .filter(({ type }) => type === 'budget.reached')
        .map(({ data }) => [data.key, data.tag, data.amount, data.threshold])
    }
    // Of 0.8 and 1, the highest that is reached.
    expect(await told(alerts('all'))).toEqual([
      ['key 1', null, '200', 1],
      [null, 'team:search', '230', 0.8],
      [null, 'team:search', '240', 0.8],
    ])
    expect(await told(`${alerts('few')}shows: [credits, models]\n`)).toEqual([])
  },
)

test.each([
  ["key: billing, tag: 'team:search'", 'expected key or tag, not both'],
  ['tag: search', 'expected a name and a value, as team:search'],
])('a budget of %s is refused', (terms, said) => {
  expect(() => settingsOf(`accounts: { a: { budget: { amount: '5', ${terms} } } }\n`)).toThrow(said)
})

test.each([
  ['key: nobody', 'budget: key: nobody: expected a name of keyNames, or the first 12 digits'],
  ["tag: 'cost-centre:7'", 'budget: tag: cost-centre: expected one of tags (team, '],
])('a budget of %s, which no customer sees, is refused', (terms, said) => {
  const settings = settingsOf(`accounts: { a: { budget: { amount: '5', ${terms} } } }\n`)
  expect(() => accountView(settings, 'a')).toThrow(said)
})
