import { expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { november, type Served, served, tokenOf } from './portal.ts'

/** Counts the queries of a service. */
function counted({ store }: Served): () => number {
  let asked = 0
  const open = store.session.bind(store)
  store.session = async (scope) => {
    const session = await open(scope)
    const rows = session.rows.bind(session)
    session.rows = (...query) => {
      asked++
      return rows(...query)
    }
    return session
  }
  return () => {
    const all = asked
    asked = 0
    return all
  }
}

test('a breakdown of many names asks as often as one of few, and has the costs of each name and day', async () => {
  const names = Array.from({ length: 120 }, (_, at) => `model ${at} of O'Neil`)
  const service = await served([], undefined, (store) =>
    enterEvents(
      store,
      [...names, null].flatMap((model, at) => [
        { atUs: utc(2026, 11, 1 + (at % 2)), account: 'a', model, credits: at + 1 },
        { atUs: utc(2026, 11, 1), account: 'a', model, credits: 0.5, unit: 'USD' },
      ]),
    ),
  )
  try {
    const token = await tokenOf('a')
    const taken = counted(service)
    const read = async (query: string) => {
      const answer = await service.ask(`/v1/usage/breakdown?${november}&${query}`, token)
      expect(answer.status).toBe(200)
      return [(await answer.json()) as Answers['breakdown'], taken()] as const
    }
    const [few, ofFew] = await read('by=model&limit=2')
    const [many, ofMany] = await read('by=model&limit=200')
    expect(ofMany).toBe(ofFew)
    expect(few.rows).toEqual(many.rows.slice(0, 2))
    expect(many.rows).toHaveLength(121)
    const costOf = (name: string | null) => many.rows.find((row) => row.name === name)?.cost
    const cost = (credits: number) => [
      { currency: 'EUR', value: String(credits / 80) },
      { currency: 'USD', value: '0.5' },
    ]
    expect(costOf(names[15]!)).toEqual(cost(16))
    expect(costOf(null)).toEqual(cost(121))
    expect(many.total.cost).toEqual([
      { currency: 'EUR', value: String((121 * 122) / 2 / 80) },
      { currency: 'USD', value: '60.5' },
    ])
    const [days] = await read('by=day&sort=name')
    expect(days.rows.map(({ name, cost: of }) => [name, of])).toEqual([
      [
        '2026-11-01',
        [
          { currency: 'EUR', value: String(61 ** 2 / 80) },
          { currency: 'USD', value: '60.5' },
        ],
      ],
      ['2026-11-02', [{ currency: 'EUR', value: String((60 * 61) / 80) }]],
    ])
  } finally {
    await service.close()
  }
}, 60_000)
