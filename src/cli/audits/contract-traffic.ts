import { basename } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import { loadContract } from '../../contract/load.ts'
import type { BalanceTerms } from '../../contract/prices.ts'
import { shownAmount } from '../../money/money.ts'
import {
  add,
  compare,
  decimalText,
  type Rational,
  readNumber,
  roundTo,
  zero,
} from '../../money/rational.ts'
import { type Probe, probesOf } from '../../price/traffic/probes.ts'
import { type LeftOut, readsAfter, trafficScenario } from '../../price/traffic/scenario.ts'
import { parseScenario } from '../../public/scenario.ts'
import { planOf } from '../../run/plan/plan.ts'
import { writeOutput } from '../../store/files/output.ts'
import { counted } from '../../user/grouped.ts'
import { shellWord } from '../../user/shell-word.ts'
import { userError } from '../../user/user-error.ts'
import type { TrafficOptions } from '../commands/contract.ts'
import { amountGiven } from '../runs/run-overrides.ts'
import { nextLine } from '../terminal/next.ts'

/** Writes the scenario whose traffic shows each part of each price of a contract, within a budget. */
export function trafficAction(file: string, { out, maxCost }: TrafficOptions): void {
  const contract = loadContract(file)
  const { prices } = contract
  const unit = prices?.currency.name
  if (prices === undefined || unit === undefined) {
    throw userError.usage(`${file} has no prices to show. See docs/prices.md.`)
  }
  const budget = maxCost === undefined ? null : readNumber(amountGiven(maxCost))!
  const { balance, cost: stated, log } = prices.evidence
  // A header shows no cost of most streams.
  const isStated = log !== null || stated.some((place) => 'body' in place)
  const kept: Probe[] = []
  const leftOut: LeftOut[] = []
  let sum: Rational = zero
  for (const probe of probesOf(prices, contract.models ?? [])) {
    const cost = costOf(probe, balance, contract)
    const with_ = cost === null ? null : add(sum, cost)
    if (budget !== null && (with_ === null || compare(with_, budget) > 0)) {
      const because = cost === null ? 'nothing bounds its cost' : `${shownAmount(cost, unit)} more`
      leftOut.push({ probe, because })
      continue
    }
    kept.push(probe)
    if (with_ !== null) sum = with_
  }
  if (kept.length === 0) {
    throw userError.usage(`--max-cost: ${maxCost} ${unit} pays for no request of ${file}.`)
  }
  const bound = decimalText(roundTo(sum, places(sum), 'up'))
  const head = {
    contract: basename(file),
    maxCost: compare(sum, zero) > 0 ? bound : null,
    isStated,
  }
  writeOutput(out, trafficScenario(kept, leftOut, balance, head))
  const reads = readsAfter(kept, balance, isStated).size
  process.stdout.write(
    [
      `Wrote ${out}: ${counted(kept.length, 'probe')}, at most ${shownAmount(sum, unit)}.`,
      ...leftOut.map(({ probe, because }) => `Left out: ${probe.name}, ${because}.`),
      ...(balance !== null && balance.withinMs > 0 && reads > 0
        ? [
            `It waits ${counted(Math.ceil((reads * balance.withinMs) / 60_000), 'minute')} in all, for ${counted(reads, 'reading')} of the balance: evidence.balance.within says that a value may be so late.`,
          ]
        : []),
      `After its run: assay audit --contract ${shellWord(file)} --rule PRICE`,
      nextLine(['run', out, '--contract', file, '--dry-run'], 'prints what it costs'),
    ].join('\n'),
  )
}

/** The most that a probe can cost; null if nothing bounds it. */
function costOf(probe: Probe, balance: BalanceTerms | null, contract: Contract): Rational | null {
  const text = trafficScenario([probe], [], balance, {
    contract: '',
    maxCost: null,
    isStated: true,
  })
  const costs = planOf(parseScenario(text, 'traffic'), contract, 1).map(({ mostCost }) => mostCost)
  // Phases that only read money have no price.
  const known = costs.map((cost) => (cost === null ? null : readNumber(cost.amount)!))
  return known.reduce<Rational | null>(
    (a, b) => (a === null || b === null ? null : add(a, b)),
    zero,
  )
}

/** Decimals of two significant digits. */
function places(value: Rational): number {
  const size = Number(decimalText(roundTo(value, 18, 'up')))
  return size <= 0 ? 0 : Math.max(0, 2 - Math.ceil(Math.log10(size)))
}
