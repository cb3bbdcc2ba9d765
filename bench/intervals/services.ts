import { type Random, randomOf } from '../../src/user/random.ts'

/**
 * Response times of simulated services, in the order of the requests' arrivals; the unit is the mean service time.
 * Queues are first come, first served, begin empty, and are shown from the steady state on.
 */
export interface Service {
  readonly name: string
  /** @param slower factor of the service times */
  readonly times: (n: number, arrivals: Random, service: Random, slower: number) => Float64Array
}

/** Requests before the first that is shown. */
const warmUp = 6000

const exponential = (random: Random) => -Math.log(1 - random())
/** Index 2.2, mean 1: the variance is large, and the third moment infinite. */
const pareto = (random: Random) => (1.2 / 2.2) * (1 - random()) ** (-1 / 2.2)
const lognormal = (random: Random) => Math.exp(0.5 * normal(random) - 0.125)
const normal = (random: Random) =>
  Math.sqrt(-2 * exponential2(random)) * Math.cos(2 * Math.PI * random())
const exponential2 = (random: Random) => Math.log(1 - random())

type Law = (random: Random) => number

/** No request is served in a pause. */
interface Pauses {
  readonly each: number
  readonly length: number
}

function open(load: number, law: Law, pauses: Pauses | null = null): Service['times'] {
  return (n, arrivals, service, slower) => {
    const free = new Float64Array(8)
    const times = new Float64Array(n)
    const phase = pauses === null ? 0 : service() * pauses.each
    let now = 0
    for (let at = -warmUp; at < n; at++) {
      now += exponential(arrivals) / (8 * load)
      const worker = leastOf(free)
      const start = Math.max(now, free[worker]!)
      let end = start + law(service) * slower
      if (pauses !== null) end = pausedEnd(start, end, phase, pauses)
      free[worker] = end
      if (at >= 0) times[at] = end - now
    }
    return times
  }
}

function pausedEnd(start: number, ends: number, phase: number, { each, length }: Pauses): number {
  let end = ends
  const cycle = Math.floor((start + phase) / each)
  const into = start + phase - cycle * each
  if (into < length) end += length - into
  for (let next = cycle + 1; next * each <= end + phase; next++) end += length
  return end
}

function closed(users: number, think: number): Service['times'] {
  return (n, arrivals, service, slower) => {
    const next = Float64Array.from({ length: users }, () => exponential(arrivals) * think)
    const free = new Float64Array(8)
    const times = new Float64Array(n)
    for (let at = -warmUp; at < n; at++) {
      const user = leastOf(next)
      const worker = leastOf(free)
      const end = Math.max(next[user]!, free[worker]!) + lognormal(service) * slower
      if (at >= 0) times[at] = end - next[user]!
      free[worker] = end
      next[user] = end + exponential(arrivals) * think
    }
    return times
  }
}

const alone =
  (drift: number): Service['times'] =>
  (n, _arrivals, service, slower) =>
    Float64Array.from(
      { length: n },
      (_, at) => Math.exp(0.5 * normal(service)) * slower * (1 + (drift * at) / n),
    )

function leastOf(values: Float64Array): number {
  let least = 0
  for (let at = 1; at < values.length; at++) if (values[at]! < values[least]!) least = at
  return least
}

export const services: readonly Service[] = [
  { name: 'independent', times: alone(0) },
  { name: '8 workers, load 0.5', times: open(0.5, exponential) },
  { name: '8 workers, load 0.7', times: open(0.7, exponential) },
  { name: '8 workers, load 0.9', times: open(0.9, exponential) },
  { name: 'heavy tail, load 0.7', times: open(0.7, pareto) },
  { name: '64 closed users', times: closed(64, 10) },
  { name: 'pauses', times: open(0.5, lognormal, { each: 125, length: 5 }) },
  { name: 'drift of 30 %', times: alone(0.3) },
]

/** Response times of a service, the same for the same seeds. */
export const timesOf = (
  service: Service,
  n: number,
  seeds: { readonly arrivals: number; readonly service: number },
  slower = 1,
): Float64Array => service.times(n, randomOf(seeds.arrivals), randomOf(seeds.service), slower)
