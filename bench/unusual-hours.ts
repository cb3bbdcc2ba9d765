// How often an ordinary log has an unusual hour, and how often a true one is told:
//   npx node bench/unusual-hours.ts [--hours 400000]
//
// Each line is a steady random log: requests of an hour by Poisson (or 0 to 3, each as likely), costs lognormal. "false" is the
// unusual hours of an account in a month of 720 hours, for histories of a week, a month and two months. "loop" is the share of
// logs in which one hour at five times the mean is told, "request" that of one request of 69 % of all use.
import { parseArgs } from 'node:util'
import { judgeHours } from '../src/report/usage/odd-hours.ts'
import { type Random, randomOf } from '../src/user/random.ts'

const { values } = parseArgs({ options: { hours: { type: 'string', default: '400000' } } })
const budget = Number(values.hours)
/** Logs with a true unusual hour, of each length. */
const trueLogs = 40

const normal = (random: Random) =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

function poisson(mean: number, random: Random): number {
  if (mean > 60) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal(random)))
  const least = Math.exp(-mean)
  let count = 0
  for (let left = random(); left > least; left *= random()) count++
  return count
}

/** What an hour used. @param mean requests of an hour; null is 0 to 3, each as likely */
function hourOf(mean: number | null, sigma: number, random: Random): number {
  const requests = mean === null ? Math.floor(random() * 4) : poisson(mean, random)
  let sum = 0
  for (let at = 0; at < requests; at++)
    sum += mean === null ? 1 + random() * 20 : 5 * Math.exp(sigma * normal(random))
  return sum
}

const unusualOf = (credits: readonly number[]): readonly number[] => {
  const hours = credits.map((used, at) => {
    const startUs = Date.UTC(2026, 9, 1) * 1000 + at * 3600e6
    const label = new Date(startUs / 1000).toISOString().slice(0, 16).replace('T', ' ')
    return { startUs, label, requests: 1, failed: 0, limited: 0, credits: used }
  })
  const rows = judgeHours(hours).find(({ kind }) => kind === 'unusual-hour')!.rows
  return rows.map(({ atUs }) => hours.findIndex(({ startUs }) => startUs === atUs))
}

const worlds: readonly (readonly [mean: number | null, sigma: number])[] = [
  [null, 0],
  ...[1, 3, 12, 30, 300].flatMap((mean) => [0.5, 1, 1.5, 2].map((sigma) => [mean, sigma] as const)),
]
console.log('requests/hour  sigma  false: 7 days  30 days  60 days   loop    request')
let worst = 0
for (const [mean, sigma] of worlds) {
  const random = randomOf(1)
  const rates: string[] = []
  let [loops, requests, tried] = [0, 0, 0]
  for (const days of [7, 30, 60]) {
    // A log of 300 requests an hour takes ten times as long to draw.
    const logs = Math.ceil(budget / (mean === 300 ? 10 : 1) / (days * 24))
    let found = 0
    for (let log = 0; log < logs; log++) {
      const credits = Array.from({ length: days * 24 }, () => hourOf(mean, sigma, random))
      found += unusualOf(credits).length
      if (log >= trueLogs) continue
      const all = credits.reduce((sum, each) => sum + each, 0)
      const at = Math.floor(random() * credits.length)
      const isTold = (used: number) => Number(unusualOf(credits.with(at, used)).includes(at))
      tried += 1
      loops += isTold((5 * all) / credits.length)
      requests += isTold(credits[at]! + (0.69 / 0.31) * all)
    }
    const rate = (found / (logs * days * 24)) * 720
    worst = Math.max(worst, rate)
    rates.push(rate.toFixed(2).padStart(8))
  }
  const share = (count: number) => `${Math.round((100 * count) / tried)} %`.padStart(8)
  console.log(
    `${String(mean ?? '0 to 3').padStart(13)}  ${String(sigma).padStart(5)}  ${rates.join(' ')}  ${share(loops)} ${share(requests)}`,
  )
}
console.log(`At most ${worst.toFixed(2)} false hours of an account and month.`)
