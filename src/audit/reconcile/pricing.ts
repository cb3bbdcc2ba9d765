import type { Contract } from '../../contract/contract.ts'
import { modelPriceOf } from '../../contract/model-price.ts'
import type { ModelPrice } from '../../contract/prices.ts'
import { type Rational, readNumber } from '../../money/rational.ts'
import { calculate, type PriceContext } from '../../price/calculate.ts'
import type { Change } from '../../price/judge/changes/change.ts'
import { changesFor } from '../../price/judge/changes/changes.ts'
import { wideChanges } from '../../price/judge/changes/wide.ts'
import { type PricedRequest, unsent } from '../../price/judge/request.ts'
import { isExactly, isWithin } from '../../price/judge/tolerance.ts'
import { logPrices } from '../../price/price-log.ts'
import { eachKind, type KindCounts, statedCounts } from '../../tokens/kinds.ts'
import { normalUsage } from '../../tokens/usage.ts'
import { onceForEach } from '../../user/once.ts'
import type { Explained, Pricing } from './lines.ts'
import type { StoredUse } from './store-lines.ts'

/** Amounts that are compared with every change; those after them only with changes that fitted one. */
const mostTried = 1_000
/** Names of changes (`Change.about`) that are no change of a price by itself. */
const ofTiers: ReadonlySet<string> = new Set(['tiers', 'service', 'times', 'hours'])
/** Right amounts of each model that are compared with a change. */
const mostRight = 300

/** The prices of a contract, for a reconciliation. @param unit the smallest that the bill shows */
export function pricingOf(
  contract: Contract,
  unit: Rational,
): Pricing & {
  /** The cost of a line of a log: of one request, or of a sum of requests. */
  costOfUse(use: StoredUse): Rational | null
  /** The contract's own name of a model. */
  nameOf(model: string): string
} {
  const prices = logPrices(contract)
  const priceOf = (name: string) => modelPriceOf(contract, name)
  const changes = new Map<string, readonly Change[]>()
  const fitted = new Set<Change>()
  const rightsOf = onceForEach((_model: string): RightUses => ({ uses: [], compared: new Map() }))
  let tried = 0
  const costBy = (change: Change, { counts, model, atMs }: Use): Rational | null =>
    change.costOf(plainRequest(model.id, atMs), model, usageOf(counts), contextAt(atMs, priceOf))
  /** Whether a change would have moved an amount of the model that is right. */
  const isContradicted = (change: Change, model: ModelPrice): boolean => {
    const { uses, compared } = rightsOf(model.id)
    let { count, isMoved } = compared.get(change) ?? { count: 0, isMoved: false }
    for (; count < uses.length && !isMoved; count++) {
      const [cost, right] = [costBy(change, uses[count]!), rightOf(uses[count]!, priceOf)]
      isMoved = cost !== null && right !== null && !isWithin(right, cost, unit, model)
    }
    compared.set(change, { count, isMoved })
    return isMoved
  }
  const explained = (
    amount: Rational,
    counts: KindCounts,
    model: ModelPrice,
    atMs: number,
  ): Explained | null => {
    const all = changes.get(model.id) ?? [
      ...changesFor([model], { priceOf }),
      ...wideChanges([model], {}),
    ]
    changes.set(model.id, all)
    const use = { counts, model, atMs }
    const right = rightOf(use, priceOf)
    const gives = (change: Change) => {
      const cost = costBy(change, use)
      if (cost === null || (right !== null && isWithin(right, cost, unit, model))) return false
      return isExactly(amount, cost, unit)
    }
    const isSound = (change: Change) => !isContradicted(change, model)
    const known = [...fitted].filter((change) => all.includes(change) && gives(change))
    const others = known.some(isSound) || tried++ >= mostTried ? [] : all.filter(gives)
    const found = [...known, ...others].find(isSound) ?? known[0] ?? others[0]
    if (found === undefined) return null
    fitted.add(found)
    const isTier = ofTiers.has(found.about)
    return { cause: isTier ? 'tier or discount' : 'price', summary: found.summary }
  }
  const costOfUse = ({ counts, ...use }: StoredUse) => {
    const text = prices.costOf({
      ...use,
      ...(counts ?? eachKind(() => null)),
    })
    return text === null ? null : readNumber(text)
  }
  const noon = (day: string) => Date.parse(`${day}T12:00:00Z`)
  return {
    unit,
    costOfUse,
    costOf: (counts, { model, day }, requests) =>
      costOfUse({ model, atUs: noon(day) * 1000, endUs: null, outcome: 'ok', requests, counts }),
    explain(amount, counts, { model, day }) {
      const price = priceOf(model)
      return price === null ? null : explained(amount, counts, price, noon(day))
    },
    keepRight(counts, { model: name, day }) {
      const model = priceOf(name)
      if (model === null) return
      const { uses } = rightsOf(model.id)
      if (uses.length < mostRight) uses.push({ counts, model, atMs: noon(day) })
    },
    nameOf: (model) => priceOf(model)?.id ?? model,
  }
}

/** Tokens of a model at a time, as a line states them. */
interface Use {
  readonly counts: KindCounts
  readonly model: ModelPrice
  readonly atMs: number
}

/** Right amounts of a model, and with how many of them each change was compared. */
interface RightUses {
  readonly uses: Use[]
  readonly compared: Map<Change, { readonly count: number; readonly isMoved: boolean }>
}

const usageOf = (counts: KindCounts) =>
  normalUsage(statedCounts(counts), { input: 'all', output: 'all' })

const contextAt = (atMs: number, priceOf: (name: string) => ModelPrice | null): PriceContext => ({
  ...{ atMs, serviceTier: null, choices: {}, outcome: 'success', counts: {}, priceOf },
})

const rightOf = (
  { counts, model, atMs }: Use,
  priceOf: (name: string) => ModelPrice | null,
): Rational | null => calculate(model, usageOf(counts), contextAt(atMs, priceOf)).cost

const plainRequest = (model: string, atMs: number): PricedRequest => ({
  ...unsent,
  slot: 0,
  requestedModel: model,
  returnedModel: null,
  isStream: false,
  outcomes: ['success'],
  ...{ startMs: atMs, headMs: atMs, endMs: atMs, askedMs: atMs },
  serviceTier: null,
  isTierRead: true,
  usage: null,
  mayCall: false,
  areCallsRead: true,
  isSurelyAgain: false,
  prompt: '',
  account: '',
  key: '',
  responseId: null,
})
