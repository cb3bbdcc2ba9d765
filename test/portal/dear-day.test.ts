import { afterEach, expect, test } from 'vitest'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import { type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

type Event = EventChange & { readonly atUs: number }

async function pageOf(events: readonly Event[], locale = 'en'): Promise<string> {
  await service?.close()
  const settings = settingsOf(`accounts: { a: { locale: ${locale} } }\n`)
  service = await served([], settings, (store) => enterEvents(store, events))
  return (await service.ask('/page', await tokenOf('a'))).text()
}
const textOf = (html: string) =>
  html
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/[\s\u202f]+/g, ' ')
const stateOf = (page: string) => textOf(/<section class="state[\s\S]*?<\/section>/.exec(page)![0])

/** Three to nine requests a day at different hours, of which the 20th is none. */
const uneven = (): readonly Event[] =>
  Array.from({ length: 27 }, (_, day) =>
    day === 19
      ? []
      : Array.from({ length: 3 + ((day * 5) % 7) }, (_, at) => ({
          atUs: utc(2026, 11, 1, 2 * at + 1) + day * 86_400e6,
          ...{ account: 'a', credits: String(2 + (day % 3)), model: 'nova' },
          ...{ promptTokens: 10 + ((day * 3) % 11), completionTokens: 20 },
        })),
  ).flat()

/** Requests of 20 November, in these hours. */
const dear = (hours: readonly number[], change: EventChange): readonly Event[] =>
  hours.map((hour, at) => ({
    atUs: utc(2026, 11, 20, hour) + at * 60e6,
    ...{ account: 'a', model: 'nova', promptTokens: 70, completionTokens: 140, ...change },
  }))

test.each([
  [[9, 9, 9, 10, 14], { credits: '28' }],
  [[9, 9, 10, 10, 14, 14, 15, 15, 15, 16, 16], { credits: '9' }],
  [[9, 10, 14], { credits: '90', model: 'orion' }],
] as const)(
  'the causes of a dear day multiply to what is claimed of it: %j %j',
  {
    tags: 'whole',
    timeout: 60_000,
  },
  async (hours, change) => {
    const state = stateOf(await pageOf([...uneven(), ...dear(hours, change)]))
    const claimed = Number(/([\d.]+) times a usual day/.exec(state)![1])
    const why = /Why: (.*)\. Show it/.exec(state)![1]!
    const requests = /(\d+) requests? \(usually ([\d.]+)\)/.exec(why)
    const ratios = [...why.matchAll(/([\d.]+) times the usual/g)].map(([, times]) => Number(times))
    if (requests !== null) ratios.push(Number(requests[1]) / Number(requests[2]))
    const product = ratios.reduce((all, each) => all * each, 1)
    expect(product / claimed).toBeGreaterThan(0.93)
    expect(product / claimed).toBeLessThan(1.07)
    if (requests !== null) expect(requests[1]).not.toBe(requests[2])
  },
)

test.each([
  ['en', 'dearer model: orion ('],
  ['de', 'teureres Modell: orion ('],
  ['fr', 'modèle plus cher : orion ('],
  ['es', 'modelo más caro: orion ('],
  ['ja', 'より高いモデル：orion（'],
])(
  'a day that is dear by another model names it, in %s',
  {
    tags: 'whole',
    timeout: 60_000,
  },
  async (locale, said) => {
    const other = dear([9, 10, 14], { credits: '200', model: 'orion' })
    expect(stateOf(await pageOf([...uneven(), ...other], locale))).toContain(said)
  },
)

test('a model whose price rose is no other model', { tags: 'whole', timeout: 60_000 }, async () => {
  const state = stateOf(await pageOf([...uneven(), ...dear([9, 10, 14], { credits: '200' })]))
  expect(state).toContain('times the usual cost of a token')
  expect(state).not.toContain('dearer model')
})

test('all hours that are busier than usual are named, joined, the dearest first, as the list has them', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const page = await pageOf([...uneven(), ...dear([3, 9, 9, 10, 14, 14, 14], { credits: '60' })])
  expect(stateOf(page)).toContain(
    '180 credits of it from 9:00 AM to 11:00 AM · 180 credits of it from 2:00 PM to 3:00 PM · 60 credits of it from 3:00 AM to 4:00 AM.',
  )
  expect(textOf(/Busier than usual[\s\S]*?<\/ol>/.exec(page)?.[0] ?? page)).toMatch(
    /▾1 Nov 20, 2026, 2:00 PM/,
  )
})
