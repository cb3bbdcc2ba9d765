/**
 * How often the billing audit notices a fault: `npm run detection-power`. Prints the tables that docs/auditing.md
 * quotes.
 *
 *     node bench/detection-power.ts                  each tier, over simulated histories
 *     node bench/detection-power.ts 100 [service] [at once]
 *                                                    lone stray credits in runs of scenarios/quick.yaml: so many
 *                                                    seeds against each service whose name holds a word
 *     node bench/detection-power.ts prices [100]     token prices: faults that strike a share of the requests
 */

import { readBounds } from '../src/audit/evidence/billing/bounds.ts'
import { readIntervals } from '../src/audit/evidence/billing/charge-intervals.ts'
import { readConservation } from '../src/audit/evidence/billing/conservation.ts'
import type { BalanceHistory } from '../src/audit/evidence/billing/history.ts'
import { intervalOperations } from '../src/audit/evidence/billing/interval-operations.ts'
import { readMajorization } from '../src/audit/evidence/billing/majorization.ts'
import { randomOf } from '../src/user/random.ts'
import { printLoneCredits } from './lone-credits.ts'
import { printPricePower } from './price-power.ts'
import { type Simulation, simulate, simulatedFaults } from './simulated-history.ts'

const meaning = { plain: 'after', stream: 'after' } as const

/** Whether each tier, by itself, finds the history at fault. */
export function tiersFlag(history: BalanceHistory): Record<'T0' | 'T1' | 'T2' | 'T3', boolean> {
  const includesOwn = () => true
  const bounds = readBounds(history, { includesOwn, graceUs: 0, holds: false })
  const operations = intervalOperations(history, meaning, { placeStreams: true })
  const start = Math.max(...history.value.filter((value) => !Number.isNaN(value)))
  return {
    T0: readConservation(history, includesOwn).stretches.some((stretch) => stretch.excess !== 0),
    T1: readMajorization(operations, start).conflict !== null,
    T2: bounds.rise !== null || bounds.least.credits > bounds.most.credits,
    T3: readIntervals(operations).conflictCount > 0,
  }
}

/** How many of `histories` each tier flags. */
export function detectionPower(
  options: Omit<Simulation, 'requests' | 'concurrency'>,
  histories: number,
  random: () => number,
): Record<'T0' | 'T1' | 'T2' | 'T3', number> {
  const flagged = { T0: 0, T1: 0, T2: 0, T3: 0 }
  for (let at = 0; at < histories; at++) {
    const flags = tiersFlag(simulate({ requests: 200, concurrency: 16, ...options }, random))
    for (const tier of ['T0', 'T1', 'T2', 'T3'] as const) if (flags[tier]) flagged[tier]++
  }
  return flagged
}

if (import.meta.main) {
  const [seeds, service = '', atOnce = '4'] = process.argv.slice(2)
  if (seeds === undefined) printTiers()
  else if (seeds === 'prices') printPricePower(Number(service === '' ? 100 : service))
  else await printLoneCredits('scenarios/quick.yaml', Number(seeds), service, Number(atOnce))
}

function printTiers(): void {
  const histories = 400
  process.stdout.write(
    `${histories} histories of 200 requests each, 16 in flight, one fault; histories flagged:\n\n`,
  )
  process.stdout.write('| header | fault | T0 | T1 | T2 | T3 |\n|---|---|---|---|---|---|\n')
  for (const header of ['atomic', 'snapshot'] as const) {
    for (const fault of simulatedFaults) {
      const { T0, T1, T2, T3 } = detectionPower({ header, fault }, histories, randomOf(1))
      process.stdout.write(`| ${header} | ${fault} | ${T0} | ${T1} | ${T2} | ${T3} |\n`)
    }
  }
}
