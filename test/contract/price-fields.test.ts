import { expect, onTestFinished, test, vi } from 'vitest'
import { PriceReader } from '../../src/contract/price-reader.ts'
import type { ModelPrice, PriceTerms } from '../../src/contract/prices.ts'
import { chargedOutcomes, feeNames, tokenPriceNames } from '../../src/contract/prices.ts'
import { modelPriceWords, readPrices, topPriceWords } from '../../src/contract/read-prices.ts'
import { decimalText } from '../../src/money/rational.ts'
import { expectedCosts } from '../../src/price/judge/expected.ts'
import { otherCurrencies } from '../../src/price/judge/price-judge.ts'
import type { PricedRequest } from '../../src/price/judge/request.ts'
import { type Usage, unknownUsage } from '../../src/tokens/usage.ts'
import type { JsonObject } from '../../src/user/json.ts'
import { request } from '../price/made-requests.ts'

/** Each field that prices of a contract accept changes a cost: none is read by nobody. */

type Fields = Readonly<Record<string, unknown>>

const counts = {
  ...{ input_uncached: 1001, cache_read: 307, cache_read_audio: 41, cache_write: 211 },
  ...{ cache_write_1h: 89, input_audio: 73, input_image: 59, output_visible: 503 },
  ...{ reasoning: 157, output_audio: 31, output_image: 37, citation: 29 },
}
const usage: Usage = {
  ...unknownUsage,
  parts: counts,
  calls: { search: 3, second: 7.5, image: 2, page: 5, character: 900, 'tool.x': 4 },
  named: { speed: 'fast' },
}
const moment = (text: string) => Date.parse(`2026-11-25T${text}:00Z`)
const sent = (change: Partial<PricedRequest>) => request({ usage, ...change })
const requests: readonly PricedRequest[] = [
  sent({}),
  sent({ serviceTier: 'flex' }),
  sent({ returnedModel: 'n' }),
  sent({ startMs: moment('08:30'), endMs: moment('09:30') }),
  // A Thursday, which is excepted, and a Sunday.
  sent({ startMs: Date.parse('2026-11-26T08:30:00Z'), endMs: Date.parse('2026-11-26T08:31:00Z') }),
  sent({ startMs: Date.parse('2026-11-29T08:30:00Z'), endMs: Date.parse('2026-11-29T08:31:00Z') }),
  sent({ startMs: Date.parse('2027-02-01T00:00:00Z'), endMs: Date.parse('2027-02-01T00:01:00Z') }),
  ...chargedOutcomes.map((outcome) => sent({ outcomes: [outcome] })),
]

/** What each of the requests may cost by these prices. */
function costsBy(top: Fields, model: Fields): string {
  const { terms, issues } = readPrices(top as JsonObject, [
    { id: 'm', fields: model as JsonObject },
    { id: 'n', fields: { price: { input: 1, output: 2 } } },
  ])
  expect(issues).toEqual([])
  const priceOf = (name: string) => terms.models.find(({ id }) => id === name) ?? null
  const judge = {
    ...{ currency: terms.currency, priceOf, choices: { group: 'vip' }, clockErrorMs: 0 },
    twinOf: () => null,
  }
  const costs = requests.map((each) => {
    const { costs, between, open } = expectedCosts(each, judge)
    return [costs.map(decimalText).toSorted(), between?.map(decimalText), open]
  })
  return JSON.stringify([costs, beside(terms, priceOf('m')!)])
}

/** What other parts of an audit read: the unit, currencies, the dialect, places. */
const beside = ({ currency, evidence, ...terms }: PriceTerms, { dialect }: ModelPrice) => [
  ...[currency, dialect, evidence.cost.length],
  otherCurrencies({ currency, evidence, ...terms }).map(({ name, rate }) => [
    name,
    decimalText(rate),
  ]),
]

const calls = { search: 0, second: 0, image: 0, page: 0, character: 0, 'tool.x': 0 }
const price = { input: 4, output: 20, ...calls }
const steps = [{ above: 1000, price: { input: 8 } }]
const hours = [{ utc: ['08:00-09:00'], times: 2 }]
const by = { speed: { fast: { times: 2 } } }
/** The fields at the top of a contract, and those of its model. */
interface Written {
  readonly top: Fields
  readonly model: Fields
}
const usual: Written = { top: {}, model: { price, by: { speed: { fast: {} } } } }
const model = (fields: Fields): Written => ({ ...usual, model: { ...usual.model, ...fields } })
const top = (fields: Fields): Written => ({ ...usual, top: fields })

/** Two contracts that differ in one field. */
type Pair = readonly [Written, Written]
const from = (before: Fields, after: Fields): Pair => [
  model(before),
  model({ ...before, ...after }),
]
const tierOf = (more: Fields) => ({ tiers: { steps, ...more } })
const hoursOf = (more: Fields) => ({ hours: [{ ...hours[0], ...more }] })
const overlays = (wrap: (overlay: Fields) => Fields) => ({
  price: from(wrap({}), wrap({ price: { input: 7 } })),
  tiers: from(wrap({}), wrap({ tiers: { steps } })),
  times: from(wrap({}), wrap({ times: 3 })),
})
const under = (path: string, fields: Readonly<Record<string, Pair>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, pair]) => [`${path}.${name}`, pair]))
const entry = (fields: Fields) => ({ price: { ...price, second: { price: 3, ...fields } } })

const pairs: Readonly<Record<string, Pair>> = {
  ...under('top', {
    currency: [usual, top({ currency: 'CNY' })],
    digits: [usual, top({ digits: 4 })],
    is: [usual, top({ is: { CNY: '0.125' } })],
    evidence: [usual, top({ evidence: { cost: [{ header: 'x-cost' }] } })],
    by: [usual, { top: { by }, model: { price } }],
    usage: [usual, top({ usage: 'anthropic' })],
    charged: [usual, top({ charged: { abort: 'full' } })],
    times: [usual, top({ times: 3 })],
    round: [usual, top({ round: { at: 'request', digits: 2, mode: 'up' } })],
    minimum: [usual, top({ minimum: 9 })],
    priced: [usual, top({ priced: 'returned' })],
    served: [usual, top({ served: 'any' })],
    clock: [model({ hours }), { ...model({ hours }), top: { clock: 'end' } }],
  }),
  ...under('model', {
    price: from({}, { price: { input: 7 } }),
    tiers: from({}, { tiers: { steps } }),
    service: from({}, { service: { flex: { times: 0.5 } } }),
    hours: from({}, { hours }),
    changes: from({}, { changes: [{ from: '2026-10-01T00:00:00Z', times: 2 }] }),
    ratios: from({}, { price: calls, ratios: { model: 2 } }),
    by: from({}, { by }),
    usage: from({}, { usage: 'anthropic' }),
    charged: from({}, { charged: { abort: 'full' } }),
    times: from({}, { times: 3 }),
    round: from({}, { round: { at: 'request', digits: 2, mode: 'up' } }),
    minimum: from({}, { minimum: 9 }),
    priced: from({}, { priced: 'returned' }),
    served: from({}, { served: 'any' }),
    clock: from({ hours }, { clock: 'end' }),
  }),
  ...under('model.tiers', {
    // 1,304 tokens were not read from a cache or written to one.
    count: from(
      { tiers: { steps: [{ above: 1500, price: { input: 8 } }] } },
      { tiers: { count: 'input', steps: [{ above: 1500, price: { input: 8 } }] } },
    ),
    apply: from(tierOf({}), tierOf({ apply: 'marginal' })),
    steps: from(tierOf({}), { tiers: { steps: [{ above: 9000, price: { input: 8 } }] } }),
  }),
  ...under('model.tiers.steps', {
    above: from(tierOf({}), { tiers: { steps: [{ above: 9000, price: { input: 8 } }] } }),
    // The whole prompt.
    from: from(
      { tiers: { steps: [{ above: 1781, price: { input: 8 } }] } },
      { tiers: { steps: [{ from: 1781, price: { input: 8 } }] } },
    ),
    price: from(tierOf({}), { tiers: { steps: [{ above: 1000, price: { input: 9 } }] } }),
    times: from(tierOf({}), { tiers: { steps: [{ ...steps[0], times: 2 }] } }),
  }),
  ...under(
    'model.service.*',
    overlays((overlay) => ({ service: { flex: overlay } })),
  ),
  ...under(
    'by.*.*',
    overlays((overlay) => ({ by: { speed: { fast: overlay } } })),
  ),
  ...under('model.hours', {
    ...overlays((overlay) => ({ hours: [{ utc: ['08:00-09:00'], ...overlay }] })),
    days: from(hoursOf({}), hoursOf({ days: ['wed'] })),
    except: from(hoursOf({}), hoursOf({ except: ['2026-11-26'] })),
    utc: from(hoursOf({}), hoursOf({ utc: ['12:00-13:00'] })),
    clock: from(hoursOf({}), hoursOf({ clock: 'end' })),
  }),
  ...under('model.changes', {
    ...overlays((overlay) => ({ changes: [{ from: '2026-10-01T00:00:00Z', ...overlay }] })),
    from: from(
      { changes: [{ from: '2026-10-01T00:00:00Z', times: 2 }] },
      { changes: [{ from: '2027-01-01T00:00:00Z', times: 2 }] },
    ),
  }),
  ...under(
    'model.price',
    Object.fromEntries(
      [...tokenPriceNames, ...feeNames, 'tool.x'].map((name) => [
        name === 'tool.x' ? 'tool.<name>' : name,
        from({}, { price: { ...price, [name]: 77 } }),
      ]),
    ),
  ),
  ...under('model.price.*', {
    price: from(entry({}), entry({ price: 5 })),
    per: from(entry({}), entry({ per: 2 })),
    minimum: from(entry({}), entry({ minimum: 15 })),
    step: from(entry({}), entry({ step: 1 })),
  }),
  ...under('model.ratios', {
    ...Object.fromEntries(
      [
        ...['completion', 'audio', 'audio_completion', 'image'],
        ...tokenPriceNames.filter((name) => name !== 'input' && name !== 'output'),
      ].map((name) => [
        name,
        from({ price: calls, ratios: { model: 2 } }, { ratios: { model: 2, [name]: 3 } }),
      ]),
    ),
    model: from({ price: calls, ratios: { model: 2 } }, { ratios: { model: 5 } }),
  }),
  ...under('round', {
    at: from(
      { round: { at: 'request', digits: 3, mode: 'up' } },
      { round: { at: 'component', digits: 3, mode: 'up' } },
    ),
    digits: from({ round: { digits: 3, mode: 'up' } }, { round: { digits: 2, mode: 'up' } }),
    mode: from({ round: { digits: 3, mode: 'up' } }, { round: { digits: 3, mode: 'down' } }),
  }),
  ...under(
    'charged',
    Object.fromEntries(
      chargedOutcomes
        .filter((outcome) => outcome !== 'inner_attempt')
        .map((outcome) => [outcome, from({}, { charged: { [outcome]: 'none' } })]),
    ),
  ),
}

test.each(Object.entries(pairs))('%s changes a cost', (_, [before, after]) => {
  expect(costsBy(after.top, after.model)).not.toBe(costsBy(before.top, before.model))
})

/** `models.0.tiers.steps.0` is `model.tiers.steps`; names that others choose are `*`. */
const patternOf = (path: string) =>
  path
    .replace(/^models\.0/, 'model')
    .replace(/\.\d+(?=\.|$)/g, '')
    .replace(/^model\.(by|round|charged)/, '$1')
    .replace(/^(model\.service)\.[^.]+/, '$1.*')
    .replace(/^by\.[^.]+\.[^.]+/, 'by.*.*')
    .replace(
      /^(?:model\.(?:service\.\*|hours|changes|tiers\.steps)|by\.\*\.\*)\.(price|tiers)/,
      'model.$1',
    )
    .replace(
      /^(?:model\.(?:service\.\*|hours|changes|tiers\.steps)|by\.\*\.\*)\.(price|tiers)/,
      'model.$1',
    )
    .replace(/^(model\.price)\.[^.]+$/, '$1.*')

test('every field that the prices of a contract accept is in these tests', () => {
  const accepted = new Set<string>([
    ...topPriceWords.map((word) => `top.${word}`),
    ...modelPriceWords.map((word) => `model.${word}`),
  ])
  const mapping = vi.spyOn(PriceReader.prototype, 'mapping')
  onTestFinished(() => mapping.mockRestore())
  const overlay = { price: { input: { price: 1 } }, tiers: { steps } }
  readPrices({ charged: {}, round: { digits: 1 } }, [
    {
      id: 'm',
      fields: {
        ...{ price: { input: { price: 1 } }, tiers: { steps }, service: { flex: overlay } },
        ...{ by: { speed: { fast: overlay } }, hours: [overlay], charged: {} },
        ...{ changes: [{ from: '2026-10-01T00:00:00Z' }], round: { digits: 1 } },
        ratios: { model: 1 },
      },
    },
  ])
  for (const [, path, words] of mapping.mock.calls)
    for (const word of words ?? []) accepted.add(`${patternOf(path)}.${word}`)
  // `allowance` changes no cost but verdicts: charged-less.test.ts.
  const elsewhere = ['charged.inner_attempt', 'model.price.*.step', 'top.allowance']
  const tested = new Set([...Object.keys(pairs), ...elsewhere])
  expect([...accepted].filter((path) => !tested.has(path)).toSorted()).toEqual(
    ['cost', 'balance', 'log'].map((place) => `evidence.${place}`).toSorted(),
  )
})
