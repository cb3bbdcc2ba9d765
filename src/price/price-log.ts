import type { Contract } from '../contract/contract.ts'
import { modelPriceOf } from '../contract/model-price.ts'
import type { ChargedOutcome, ModelPrice } from '../contract/prices.ts'
import { decimalText, rational, roundTo } from '../money/rational.ts'
import { type KindCounts, statedCounts } from '../tokens/kinds.ts'
import { normalUsage } from '../tokens/usage.ts'
import { lookup } from '../user/lookup.ts'
import { onceForEach } from '../user/once.ts'
import { UserError } from '../user/user-error.ts'
import { calculate } from './calculate.ts'

/** A line of a log, as far as its cost depends on it. Null: the log does not say it. */
export interface LoggedUse extends KindCounts {
  readonly model: string | null
  /** Unix microseconds. */
  readonly atUs: number
  /** The end of the interval of a sum, exclusive; null for requests at one moment. */
  readonly endUs: number | null
  readonly outcome: string
  readonly requests: number | null
}

export interface LogPrices {
  /** Of the contract. */
  readonly name: string
  readonly unit: string
  /** The exact decimal; null if the line's model, tokens or price are unknown, or it sums requests whose prices depend on each. */
  costOf(use: LoggedUse): string | null
}

/** Decimals of an amount in the store. */
const storedDigits = 18

const chargedAs: Readonly<Record<string, ChargedOutcome>> = lookup({
  ok: 'success',
  http_error: 'refused',
  broken: 'broken',
  timeout: 'broken',
  aborted: 'abort',
})

/** @throws UserError for a contract without prices */
export function logPrices(contract: Contract): LogPrices {
  const { prices, name } = contract
  if (prices === undefined || prices.models.length === 0)
    throw new UserError(
      'usage',
      `The contract ${name} has no prices: expected prices of models, from which the cost of a line follows (docs/prices.md).`,
    )
  const priceOf = onceForEach((name: string) => modelPriceOf(contract, name))
  return {
    name,
    unit: prices.currency.name,
    costOf(use) {
      const model = priceOf(use.model ?? '')
      return model === null ? null : costBy(model, use)
    },
  }
}

function costBy(model: ModelPrice, use: LoggedUse): string | null {
  const isSum = use.endUs !== null || use.requests !== 1
  if (isSum && !addsUp(model, use)) return null
  const usage = normalUsage(statedCounts(use), { input: 'all', output: 'all' })
  const { cost } = calculate(model, usage, {
    atMs: use.atUs / 1000,
    serviceTier: null,
    choices: {},
    outcome: chargedAs[use.outcome] ?? 'success',
    counts: isSum && use.requests !== null ? { request: rational(BigInt(use.requests)) } : {},
  })
  return cost === null ? null : decimalText(roundTo(cost, storedDigits, 'half_even'))
}

/** Whether the cost of a sum of requests is the sum of their costs. */
function addsUp(model: ModelPrice, { requests, atUs, endUs }: LoggedUse): boolean {
  const { changes, service, by, hours, round, minimum, tiers } = model
  const ofNames = Object.values(by).flatMap((values) => Object.values(values))
  const overlays = [model, ...changes, ...Object.values(service), ...ofNames, ...hours]
  const isByRequest =
    round !== null ||
    minimum !== null ||
    tiers !== null ||
    overlays.some(
      (overlay) =>
        overlay.tiers !== null ||
        Object.values(overlay.price).some(
          (entry) => entry.minimum !== undefined || entry.step !== undefined,
        ),
    )
  const isSteady =
    endUs === null ||
    (hours.length === 0 &&
      !changes.some(({ fromMs }) => fromMs * 1000 > atUs && fromMs * 1000 < endUs))
  const begun = changes.filter(({ fromMs }) => fromMs * 1000 < (endUs ?? atUs + 1))
  const hasFee = [model, ...begun, ...Object.values(service), ...ofNames, ...hours].some(
    (overlay) => overlay.price.request !== undefined,
  )
  return !isByRequest && isSteady && (requests !== null || !hasFee)
}
