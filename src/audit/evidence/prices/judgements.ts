import { modelPriceOf } from '../../../contract/model-price.ts'
import type { ModelPrice, PriceTerms } from '../../../contract/prices.ts'
import { type Judged, judgePlace } from '../../../price/judge/judge.ts'
import {
  otherCurrencies,
  type PriceJudge,
  type PriceOf,
  type SeenNames,
} from '../../../price/judge/price-judge.ts'
import type { PricedRequest, StatedCost } from '../../../price/judge/request.ts'
import { outputOf } from '../../../tokens/usage.ts'
import { isUsualValue, selectingNames } from '../../../tokens/usage-names.ts'
import { onceForEach } from '../../../user/once.ts'
import type { Evidence } from '../../rule.ts'
import { oncePerEvidence } from '../once.ts'
import { asCached, freeRepeats } from './free-repeats.ts'
import { type Join, joinLog } from './join.ts'
import { likelyLeft } from './likely-left.ts'
import type { LogRow } from './log.ts'
import { countsOf } from './log-counts.ts'
import { byKeys, wrongChanges } from './owners.ts'
import type { Recorded } from './request-charge.ts'
import { type PriceRequests, priceRequests } from './requests.ts'
import { sumOfCosts } from './stated-costs.ts'

export interface PriceJudgements extends PriceRequests {
  readonly prices: PriceTerms
  readonly judge: PriceJudge
  /** Stated costs, by place. */
  readonly stated: ReadonlyMap<string, readonly Judged[]>
  /** Null without a log. */
  readonly join: Join | null
  /** Logged costs: the sum of a request's rows. */
  readonly logged: readonly Judged[]
}

const clockErrorMs = 2_000

/** All amounts of all places, judged by the contract once for all rules. */
export const priceJudgements = oncePerEvidence(
  async (evidence: Evidence): Promise<PriceJudgements | null> => {
    const { prices } = evidence.contract
    if (prices === undefined) return null
    const loaded = await priceRequests(evidence)
    const judged = judgedBy(evidence, prices, loaded)
    const all = [...[...judged.stated.values()].flat(), ...judged.logged]
    const free = freeRepeats(loaded.requests, all)
    const found =
      free.size === 0
        ? judged
        : judgedBy(evidence, prices, { ...loaded, requests: asCached(loaded.requests, free) })
    return ownedBy(evidence, prices, found)
  },
)

/** Keys of one account may each have a balance of their own: so it is if fewer changes of it are wrong then. */
function ownedBy(evidence: Evidence, prices: PriceTerms, found: PriceJudgements): PriceJudgements {
  const { balance } = prices.evidence
  const split = balance === null ? null : byKeys(found)
  if (balance === null || split === null) return found
  const wrongIn = (of: PriceJudgements) => wrongChanges(of, balance, of.judge, recordedCosts(of))
  const wrong = wrongIn(found)
  if (wrong === 0) return found
  const own = judgedBy(evidence, prices, split)
  return wrongIn(own) < wrong ? own : found
}

function judgedBy(
  { contract, priceLog, isLogById = false, priceChoices = {} }: Evidence,
  prices: PriceTerms,
  found: PriceRequests,
): PriceJudgements {
  const twins = twinsOf(found.requests)
  const join =
    priceLog === undefined
      ? null
      : joinLog(found.requests, priceLog, prices.evidence.log, isLogById)
  const logged = new Map((join?.pairs ?? []).map(({ request, rows }) => [request, countsOf(rows)]))
  const priceOf = onceForEach((name: string) => modelPriceOf(contract, name))
  const judge: PriceJudge = {
    currency: prices.currency,
    priceOf,
    choices: priceChoices,
    clockErrorMs,
    twinOf: ({ prompt }) => twins.get(prompt)?.usage ?? null,
    twinBytesOf: ({ prompt }) => twins.get(prompt)?.receivedBytes ?? null,
    loggedOf: (request) => logged.get(request) ?? null,
    namesOf: seenNames(found.requests, priceOf),
    likely: likelyLeft(found.requests, priceOf),
    others: otherCurrencies(prices),
    models: prices.models,
  }
  const amounts = found.requests.flatMap((request) =>
    request.stated.map((statement) => ({ request, statement })),
  )
  const places = Map.groupBy(amounts, ({ statement }) => statement.place)
  const rows = (join?.pairs ?? []).flatMap(({ request, rows }) => {
    const statement = loggedCost(rows)
    return statement === null ? [] : [{ request, statement }]
  })
  return {
    ...found,
    prices,
    judge,
    stated: new Map([...places].map(([place, all]) => [place, judgePlace(all, judge)])),
    join,
    logged: judgePlace(rows, judge),
  }
}

/**
 * What the service logged for each request, or else stated. An answer that repeats an earlier one, with its id, repeats its cost
 * and its row, which were charged once.
 */
export function recordedCosts({
  logged,
  stated,
}: Pick<PriceJudgements, 'logged' | 'stated'>): Recorded {
  const all = [...[...stated.values()].flat(), ...logged].filter(({ request }) => !request.isRepeat)
  return new Map(
    all.map(({ request, statement: { value }, unit }) => [request, { value, unit }] as const),
  )
}

/** The sum of the rows of one request; null if one of them states no cost, because half of a sum is no sum. */
export function loggedCost(rows: readonly Pick<LogRow, 'cost'>[]): StatedCost | null {
  const costs = rows.flatMap(({ cost }) => cost ?? [])
  return costs.length < rows.length ? null : sumOfCosts(costs)
}

/** A complete answer for each request text. */
function twinsOf(requests: readonly PricedRequest[]): ReadonlyMap<string, PricedRequest> {
  const twins = new Map<string, PricedRequest>()
  for (const request of requests) {
    const { prompt, usage, outcomes } = request
    if (outcomes[0] !== 'success' || usage === null || outputOf(usage.parts) === null) continue
    if (!twins.has(prompt)) twins.set(prompt, request)
  }
  return twins
}

/** What answers of each model name that may choose their price. */
function seenNames(
  requests: readonly PricedRequest[],
  priceOf: PriceOf,
): (model: ModelPrice) => SeenNames {
  const seen = new Map<string, { readonly fields: Set<string>; readonly tiers: Set<string> }>()
  for (const { requestedModel, usage, serviceTier, isTierRead } of requests) {
    const id = priceOf(requestedModel)?.id
    if (id === undefined) continue
    const names = seen.get(id) ?? { fields: new Set(), tiers: new Set() }
    seen.set(id, names)
    for (const [field] of selectingNames(usage?.named ?? {})) names.fields.add(field)
    if (isTierRead && serviceTier !== null && !isUsualValue(serviceTier))
      names.tiers.add(serviceTier)
  }
  const none: SeenNames = { fields: [], tiers: [] }
  const lists = new Map(
    [...seen].map(([id, { fields, tiers }]) => [id, { fields: [...fields], tiers: [...tiers] }]),
  )
  return ({ id }) => lists.get(id) ?? none
}
