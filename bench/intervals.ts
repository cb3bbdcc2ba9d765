/**
 * What the intervals promise and cost, on simulated services of known figures: `npx node bench/intervals.ts
 * [--pairs 200] [--length 2000] [--only NAME]`. Prints the table of docs/comparing.md.
 */
import { parseArgs } from 'node:util'
import { ratioInterval } from '../src/measure/interval/difference.ts'
import type { Interval } from '../src/measure/interval/interval.ts'
import { Series } from '../src/measure/interval/series.ts'
import { percentileOf } from '../src/measure/percentile.ts'
import { type Service, services, timesOf } from './intervals/services.ts'

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '200' },
    length: { type: 'string', default: '2000' },
    only: { type: 'string', default: '' },
  },
})
const pairs = Number(values.pairs)
const length = Number(values.length)

const statistics = {
  mean: (series: Series) => series.mean(),
  p50: (series: Series) => series.percentile(0.5),
  p95: (series: Series) => series.percentile(0.95),
  p99: (series: Series) => series.percentile(0.99),
} as const
type Name = keyof typeof statistics
const names = Object.keys(statistics) as readonly Name[]

/** Requests that tell the true figures of a service, in ten runs. */
const truthRuns = 10
const truthLength = 200_000

function truthOf(service: Service): Readonly<Record<Name, number>> {
  const all = new Float64Array(truthRuns * truthLength)
  for (let run = 0; run < truthRuns; run++) {
    const seeds = { arrivals: 90_000 + run, service: 95_000 + run }
    all.set(timesOf(service, truthLength, seeds), run * truthLength)
  }
  all.sort()
  const mean = all.reduce((sum, time) => sum + time, 0) / all.length
  const at = (p: number) => percentileOf(all, p)!
  return { mean, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

const holds = ({ low, high }: Interval, truth: number) =>
  (low === null || low <= truth) && (high === null || truth <= high)

const isCalled = (a: Interval, b: Interval): 'worse' | 'better' | null => {
  const change = ratioInterval(a, b)
  if (change === null) return null
  if (change.low !== null && change.low > 0) return 'worse'
  return change.high !== null && change.high < 0 ? 'better' : null
}

const percent = (count: number) => Math.round((100 * count) / pairs).toString()

console.log(
  `| service | contains the mean | p50 | p95 | p99 | p95 has both bounds | same service, called different: p95 | worst of four | 10 % slower, found by p95 | 20 % | worth |`,
)
console.log(`|${' --- |'.repeat(11)}`)
for (const service of services.filter(({ name }) => name.includes(values.only))) {
  const truth = truthOf(service)
  const count = { both: 0, slower10: 0, slower20: 0 }
  const held: Record<Name, number> = { mean: 0, p50: 0, p95: 0, p99: 0 }
  const differ: Record<Name, number> = { mean: 0, p50: 0, p95: 0, p99: 0 }
  const worth: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const run = (nth: number, slower = 1) =>
      new Series(
        timesOf(
          service,
          length,
          { arrivals: 11_000 + pair * 10 + nth, service: 310_000 + pair * 10 + nth },
          slower,
        ),
      )
    const [a, b, ten, twenty] = [run(1), run(2), run(3, 1.1), run(4, 1.2)]
    worth.push(a.worth)
    for (const name of names) {
      const of = statistics[name]
      if (holds(of(a), truth[name])) held[name]++
      if (isCalled(of(a), of(b)) !== null) differ[name]++
    }
    const p95 = a.percentile(0.95)
    if (p95.low !== null && p95.high !== null) count.both++
    if (isCalled(p95, ten.percentile(0.95)) === 'worse') count.slower10++
    if (isCalled(p95, twenty.percentile(0.95)) === 'worse') count.slower20++
  }
  const middle = worth.sort((one, other) => one - other)[Math.floor(pairs / 2)]!
  const cells = [
    ...names.map((name) => percent(held[name])),
    percent(count.both),
    percent(differ.p95),
    percent(Math.max(...names.map((name) => differ[name]))),
    percent(count.slower10),
    percent(count.slower20),
    String(Math.round(middle)),
  ]
  console.log(`| ${[service.name, ...cells].join(' | ')} |`)
}
