import type { Spacing } from '../src/scenario/loads.ts'
import { ArrivalPlan } from '../src/schedule/arrivals.ts'

/**
 * `node bench/plan.ts [--millions=10]`: CPU nanoseconds for each arrival of a plan, of one thread that has all,
 * of one that has every thousandth, and of finding the last.
 */
const given = process.argv.find((word) => word.startsWith('--millions='))
const count = Number(given?.slice(11) ?? 10) * 1e6
const spacings: readonly Spacing[] = [
  { kind: 'constant' },
  { kind: 'poisson' },
  { kind: 'gamma', shape: 0.5 },
]
const walk = (shares: number) => (plan: ArrivalPlan) => {
  while (plan.advance(plan.index + shares));
}
const works = {
  whole: walk(1),
  '1 of 1000': walk(1000),
  last: (plan: ArrivalPlan) => plan.finish(),
}
for (const spacing of spacings) {
  const rate = [{ durationUs: 0, fromPerS: 1e6, toPerS: 1e6 }]
  const figures = Object.entries(works).map(([name, work]) => {
    const rounds = [1, 2, 3, 4, 5].map((seed) => {
      const before = process.cpuUsage()
      work(new ArrivalPlan(spacing, rate, { durationUs: count, maxRequests: null }, seed, 'p'))
      const { user, system } = process.cpuUsage(before)
      return ((user + system) * 1000) / count
    })
    return `${name} ${rounds.toSorted((a, b) => a - b)[2]!.toPrecision(3)} ns`
  })
  process.stdout.write(`${spacing.kind}: ${figures.join(', ')}\n`)
}
