import { expect, test } from 'vitest'
import { parseContract } from '../../../src/contract/load.ts'
import { firstContract } from '../../../src/price/first/first-contract.ts'
import { parseYaml } from '../../../src/user/yaml.ts'
import { audited, chat, contractOf, type Sent } from './paid.ts'

/** One wrong charge among many right ones, where nothing but a header of the balance shows it. */

const credits = parseContract(parseYaml(firstContract('credits', null)) as object, 'credits.yaml')

interface World {
  /** What the nth request takes. */
  readonly takes?: (due: number, nth: number) => number
  readonly due?: (nth: number) => number
  readonly modelOf?: (nth: number) => string
  readonly isStream?: (nth: number) => boolean
  /** Whether the value in the header has the request's own charge. */
  readonly isAfter?: (nth: number) => boolean
  readonly count?: number
  readonly start?: number
  readonly moves?: 'up' | 'down'
  /** How a value is shown. */
  readonly text?: (value: number) => string
  readonly header?: string
  readonly answerOf?: (nth: number) => string
}

function sendsOf({
  takes = (due) => due,
  due = () => 1,
  modelOf = () => 'small',
  isStream = () => false,
  isAfter = () => true,
  count = 81,
  start = 1500,
  moves = 'down',
  text = String,
  header = 'x-credits-remaining',
  answerOf = (nth) => chat(`a${nth}`).answer,
}: World): readonly Sent[] {
  let left = start
  return Array.from({ length: count }, (_, nth): Sent => {
    const before = left
    const taken = takes(due(nth), nth)
    left = moves === 'down' ? left - taken : left + taken
    return {
      ...chat(`a${nth}`),
      model: modelOf(nth),
      body: `{"model":"${modelOf(nth)}","messages":"Hello ${nth}"}`,
      answer: answerOf(nth),
      headers: `${header}: ${text(isAfter(nth) ? left : before)}`,
      ended: { streamed: isStream(nth) ? 1 : 0 },
    }
  })
}

const balanceOf = async (world: World, contract = credits) =>
  (await audited(sendsOf(world), null, { contract }))['PRICE-06']!

const isTwo = (nth: number) => nth % 2 === 1
const honest: Readonly<Record<string, World>> = {
  'each value after its own charge': {},
  'each value before its own charge': { isAfter: () => false },
  'streams before their charge, plain answers after it': {
    isStream: isTwo,
    isAfter: (nth) => !isTwo(nth),
  },
  'one model before its charge, and then another after it': {
    modelOf: (nth) => (nth < 40 ? 'small' : 'large'),
    due: (nth) => (nth < 40 ? 1 : 5),
    isAfter: (nth) => nth >= 40,
  },
  'values that the clock decides': { isAfter: (nth) => (nth * 7919) % 10 !== 3 },
  'one value before its charge in the middle': { isAfter: (nth) => nth !== 40 },
  'two models in turn': {
    modelOf: (nth) => (isTwo(nth) ? 'large' : 'small'),
    due: (nth) => (isTwo(nth) ? 5 : 1),
  },
}

test.each(Object.entries(honest))('a header with %s passes', async (_, world) => {
  expect(await balanceOf(world)).toMatchObject({ verdict: 'pass' })
})

const wrong: Readonly<Record<string, readonly [World, RegExp]>> = {
  'a double charge': [
    { takes: (due, nth) => (nth === 50 ? 2 * due : due) },
    /^2 credits taken, where 1 request costs 1 credits, from one value to the next; 1 of 80 are wrong: request charged twice .*, or charged twice/,
  ],
  'a triple charge': [{ takes: (due, nth) => (nth === 30 ? 3 * due : due) }, /charged three times/],
  'a free request': [{ takes: (due, nth) => (nth === 30 ? 0 : due) }, /: request free .*, or free/],
  'a double charge, each value before its own': [
    { isAfter: () => false, takes: (due, nth) => (nth === 50 ? 2 * due : due) },
    /charged twice/,
  ],
  'a double charge of a stream': [
    { isStream: isTwo, takes: (due, nth) => (nth === 51 ? 2 * due : due) },
    /charged twice/,
  ],
  'a double charge of the dear model': [
    { ...honest['two models in turn'], takes: (due, nth) => (nth === 51 ? 2 * due : due) },
    /charged twice/,
  ],
  'a credit too much for one request of five': [
    { ...honest['two models in turn'], takes: (due, nth) => (nth === 51 ? due + 1 : due) },
    /6 credits taken/,
  ],
  'a double charge among values that the clock decides': [
    {
      ...honest['values that the clock decides'],
      takes: (due, nth) => (nth === 50 ? 2 * due : due),
    },
    /./,
  ],
  'a double charge on each 40th request': [
    { count: 82, takes: (due, nth) => (nth % 40 === 39 ? 2 * due : due) },
    /charged twice/,
  ],
  'a double charge and a free request': [
    { takes: (due, nth) => (nth === 30 ? 2 : nth === 60 ? 0 : due) },
    /./,
  ],
}

test.each(Object.entries(wrong))(
  '%s among 81 requests fails',
  { tags: 'whole' },
  async (_, [world, says]) => {
    expect(await balanceOf(world)).toMatchObject({
      verdict: 'fail',
      observed: expect.stringMatching(says),
    })
  },
)

test('a double charge of the second request may be a first value before its charge: inconclusive', async () => {
  const why = expect.stringMatching(/2 credits taken.*read before its own charge/)
  const early = await balanceOf({ takes: (due, nth) => (nth === 1 ? 2 * due : due) })
  expect(early).toMatchObject({ verdict: 'inconclusive', why })
  const first = await balanceOf({ isAfter: (nth) => nth > 0 })
  expect(first).toMatchObject({ verdict: 'inconclusive', why })
})

const inUnits = (change: object, evidence: object) => contractOf({ ...change, evidence })
const header = (more: object = {}) => ({
  balance: { header: 'x-credits-remaining', moves: 'down', ...more },
})
const request = (price: string | number) => [{ id: 'small', price: { request: price } }]
const twice = (due: number, nth: number) => (nth === 50 ? 2 * due : due)

const units: Readonly<Record<string, readonly [ReturnType<typeof contractOf>, World]>> = {
  'cents of a dollar': [
    inUnits({ models: request('0.01') }, header()),
    { due: () => 0.01, start: 15.03, text: (value) => value.toFixed(2) },
  ],
  'hundredths of a dollar as whole numbers': [
    inUnits({ models: request('0.01') }, header({ times: '0.01' })),
    {},
  ],
  'parts of a credit': [
    inUnits({ currency: 'credits', digits: 4, models: request('0.0004') }, header()),
    { due: () => 0.0004, text: (value) => value.toFixed(4) },
  ],
  'credits used': [
    inUnits({ currency: 'credits', models: request(1) }, header({ moves: 'up' })),
    { moves: 'up', start: 20 },
  ],
  'a smallest charge': [
    inUnits(
      {
        ...{ currency: 'quota', minimum: 1, round: { at: 'request', digits: 0, mode: 'up' } },
        models: [{ id: 'small', price: { input: 1000, output: 1000 } }],
      },
      header(),
    ),
    {},
  ],
  // 10 tokens of input and 5 of output cost 3.4 credits; nothing says how they are rounded.
  'whole credits for parts of them': [
    inUnits(
      {
        currency: 'credits',
        models: [{ id: 'small', price: { input: 240_000, output: 200_000 } }],
      },
      header(),
    ),
    { due: (nth) => (nth % 5 < 2 ? 4 : 3) },
  ],
}

test.each(Object.entries(units))(
  'one double charge in %s fails',
  { tags: 'whole' },
  async (_, [contract, world]) => {
    expect(await balanceOf(world, contract)).toMatchObject({ verdict: 'pass' })
    expect(await balanceOf({ ...world, takes: twice }, contract)).toMatchObject({ verdict: 'fail' })
  },
)

/** Waves of eight requests at once. */
const inWaves = (sends: readonly Sent[]): readonly Sent[] =>
  sends.map((sent, nth) => {
    const [from, until] = [20 * Math.floor(nth / 8), 20 * Math.floor(nth / 8) + 10 + (nth % 8)]
    const [sentUs, endUs] = [from * 1e6, until * 1e6]
    const times = { sentUs, headersUs: endUs, doneUs: endUs, closedUs: endUs }
    return { ...sent, ended: { ...sent.ended, ...times } }
  })

test('double charges that the values of concurrent requests hide are no pass, and right ones no fault', {
  tags: 'whole',
}, async () => {
  const found = async (takes: (due: number, nth: number) => number) =>
    (await audited(inWaves(sendsOf({ takes })), null, { contract: credits }))['PRICE-06']!
  const hides = { verdict: 'inconclusive', why: expect.stringContaining('nothing in flight') }
  expect(await found((due) => due)).toMatchObject(hides)
  expect(await found((due, nth) => (nth % 20 === 19 ? 2 * due : due))).not.toMatchObject({
    verdict: 'pass',
  })
  expect(await found((due) => 2 * due)).toMatchObject({ verdict: 'fail' })
})

test('a read with nothing in flight before and after concurrent requests shows one double charge', {
  tags: 'whole',
}, async () => {
  const page = (left: number, atS: number): Sent => ({
    ...{ path: '/credits', method: 'GET', model: null, endpoint: 'other' },
    answer: `{"left": ${left}}`,
    ended: { sentUs: atS * 1e6, headersUs: atS * 1e6 + 1e3, closedUs: atS * 1e6 + 1e5 },
  })
  const contract = inUnits(
    { currency: 'credits', models: request(1) },
    { balance: { get: '/credits', value: 'left', moves: 'down' } },
  )
  for (const [extra, verdict] of [
    [0, 'pass'],
    [1, 'fail'],
  ] as const) {
    const sends = [page(1500, -5), ...inWaves(sendsOf({})), page(1500 - 81 - extra, 400)]
    expect((await audited(sends, null, { contract }))['PRICE-06']).toMatchObject({ verdict })
  }
})

test('a cent more than so many requests of a cent each, on a page that shows cents, is no pass', {
  tags: 'whole',
}, async () => {
  const contractAt = (price: string) =>
    contractOf({
      models: request(price),
      evidence: { balance: { get: '/key/info', value: 'spend', moves: 'up' } },
    })
  const contract = contractAt('0.01')
  const sends = sendsOf({ header: 'x-other' })
  const found = async (spend: string) =>
    (await audited(sends, ['10.00', spend], { contract }))['PRICE-06']!
  expect(await found('10.81')).toMatchObject({ verdict: 'pass' })
  for (const spend of ['10.82', '10.80'])
    expect(await found(spend)).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('one unit of the last place'),
    })
  expect(await found('10.85')).toMatchObject({ verdict: 'fail' })
  const one = await audited(sends.slice(0, 1), ['10.00', '10.06'], { contract: contractAt('0.05') })
  expect(one['PRICE-06']).toMatchObject({
    verdict: 'inconclusive',
    why: expect.stringContaining('0.06 USD taken, where 1 request costs 0.05 USD: one unit of'),
  })
})

test('equal requests that a cache may answer for nothing accuse nobody, and a double charge of one fails', {
  tags: 'whole',
}, async () => {
  const alike = (takes: (due: number, nth: number) => number) =>
    sendsOf({ takes }).map((sent) => ({ ...sent, body: '{"model":"small","messages":"Hello"}' }))
  const found = async (takes: (due: number, nth: number) => number) =>
    (await audited(alike(takes), null, { contract: credits }))['PRICE-06']!
  expect((await found((due, nth) => (nth % 3 === 2 ? 0 : due))).verdict).toBe('inconclusive')
  expect(await found(twice)).toMatchObject({ verdict: 'fail' })
  expect(await found((due) => due)).toMatchObject({ verdict: 'pass' })
})
