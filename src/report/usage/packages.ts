import type { Package } from '../../contract/contract.ts'
import { largest } from '../../user/extremes.ts'
import type { PackagePlan } from './shape.ts'

/**
 * A price difference below one in this many favours the larger plan: two Standards cost one cent less than a Premium.
 */
const nearTie = 1000

/** So many of each pack. */
interface Cover {
  readonly price: number
  readonly credits: number
  readonly counts: readonly number[]
}

const packsOf = ({ counts }: Cover) => counts.reduce((sum, count) => sum + count)

/**
 * The cheapest packs that hold at least `needCredits`; of equal prices the most credits, then the fewest packs. It is
 * exact: a covering knapsack in units g, the common divisor of the pack sizes.
 *
 * Beyond a bound, all further packs can be p*, the pack with the best price per credit. Among any k = size(p*)/g other
 * packs, some sum to a multiple of size(p*) (pigeonhole on prefix sums), and p* holds as much for no more money. So at
 * most k - 1 packs are others, and the search stays small for any need.
 */
export function cheapestPlan(packages: readonly Package[], needCredits: number): PackagePlan {
  const need = Math.max(0, Math.ceil(needCredits))
  const unit = packages.map((pack) => pack.credits).reduce(commonMeasure)
  const best = [...packages].sort(
    (a, b) => a.priceUsdCents * b.credits - b.priceUsdCents * a.credits || b.credits - a.credits,
  )[0]!
  const others = (best.credits / unit - 1) * largest(packages.map((pack) => pack.credits))
  const bulk = Math.max(0, Math.floor((need - others) / best.credits))
  const units = Math.max(0, Math.ceil((need - bulk * best.credits) / unit))

  // The best cover for each number of units, from zero.
  const covers: Cover[] = [{ price: 0, credits: 0, counts: packages.map(() => 0) }]
  while (covers.length <= units) {
    const ways = packages.map((pack, at): Cover => {
      const rest = covers[Math.max(0, covers.length - pack.credits / unit)]!
      return {
        price: rest.price + pack.priceUsdCents,
        credits: rest.credits + pack.credits,
        counts: rest.counts.with(at, rest.counts[at]! + 1),
      }
    })
    covers.push(
      ways.reduce((best, way) =>
        (way.price - best.price || best.credits - way.credits || packsOf(way) - packsOf(best)) < 0
          ? way
          : best,
      ),
    )
  }
  const { counts } = covers.at(-1)!
  return planOf(
    packages,
    counts.map((count, at) => (packages[at] === best ? count + bulk : count)),
  )
}

/**
 * The plan with the most credits for at most a thousandth more than the price of `plan`, if it holds at least half as
 * much again; else null. A cent is no reason to forgo 10,000 credits.
 */
export function nearTiePlan(packages: readonly Package[], plan: PackagePlan): PackagePlan | null {
  const budget = Math.floor(plan.priceUsdCents + plan.priceUsdCents / nearTie)
  if (budget === 0 || budget > 5e6) return null
  const credits = new Float64Array(budget + 1)
  const last = new Int32Array(budget + 1).fill(-1)
  for (let cents = 1; cents <= budget; cents++) {
    for (const [index, pack] of packages.entries()) {
      const rest = cents - pack.priceUsdCents
      if (rest < 0 || credits[rest]! + pack.credits <= credits[cents]!) continue
      credits[cents] = credits[rest]! + pack.credits
      last[cents] = index
    }
  }
  if (credits[budget]! < plan.credits * 1.5) return null
  const counts = packages.map(() => 0)
  for (let cents = budget; last[cents] !== -1; ) {
    const index = last[cents]!
    counts[index]! += 1
    cents -= packages[index]!.priceUsdCents
  }
  return planOf(packages, counts)
}

/** `2 Standard + 1 Starter (59.97 USD, 10,500 credits)`; `nothing` without packs. */
export function planInWords(plan: PackagePlan): string {
  const packs = plan.packs.filter((pack) => pack.count > 0)
  if (packs.length === 0) return 'nothing'
  const names = packs.map((pack) => `${pack.count} ${pack.name}`).join(' + ')
  return `${names} (${usd(plan.priceUsdCents)}, ${plan.credits.toLocaleString('en-US')} credits)`
}

export const usd = (cents: number): string => `${(cents / 100).toFixed(2)} USD`

function planOf(packages: readonly Package[], counts: readonly number[]): PackagePlan {
  const total = (of: (pack: Package) => number) =>
    packages.reduce((sum, pack, at) => sum + counts[at]! * of(pack), 0)
  return {
    packs: packages.map((pack, at) => ({ name: pack.name, count: counts[at]! })),
    credits: total((pack) => pack.credits),
    priceUsdCents: total((pack) => pack.priceUsdCents),
  }
}

const commonMeasure = (a: number, b: number): number => (b === 0 ? a : commonMeasure(b, a % b))
