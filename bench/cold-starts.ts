/**
 * How often a cold start is told, and what a cut removes of it, on simulated services: `npx node bench/cold-starts.ts
 * [--runs 200]`. Prints the table of decision 0817.
 */
import { parseArgs } from 'node:util'
import { averageOf } from '../src/measure/interval/average.ts'
import { coldStartOf, warmUpCut } from '../src/measure/interval/cold-start.ts'
import { services, timesOf } from './intervals/services.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '200' } } })
const runs = Number(values.runs)
const meanOf = (times: Float64Array) => averageOf(times).mean
const percent = (share: number) => (100 * share).toFixed(Math.abs(share) < 0.1 ? 1 : 0)

console.log(
  '| service | requests | told, of a level start | told, 3 times slower at first | mean too high by | after `warmup: auto` | mean of a level run, changed by `warmup: auto` |',
)
console.log(`|${' --- |'.repeat(7)}`)
for (const service of services) {
  for (const length of [500, 2000, 10_000]) {
    const sum = { level: 0, cold: 0, high: 0, left: 0, harm: 0 }
    for (let run = 0; run < runs; run++) {
      const level = timesOf(service, length, { arrivals: 10 + run, service: 7000 + run })
      const cold = level.map((time, at) => time * (1 + 2 * Math.exp(-at / 100)))
      const cut = (times: Float64Array) => times.slice(warmUpCut(times) ?? 0)
      const beyond = (times: Float64Array) => meanOf(times) / meanOf(level) - 1
      if (coldStartOf(level) !== null) sum.level++
      if (coldStartOf(cold) !== null) sum.cold++
      sum.high += beyond(cold)
      sum.left += beyond(cut(cold))
      sum.harm += beyond(cut(level))
    }
    const cells = [sum.level, sum.cold, sum.high, sum.left, sum.harm].map(
      (each) => `${percent(each / runs)} %`,
    )
    console.log(`| ${[service.name, length, ...cells].join(' | ')} |`)
  }
}
