import type { RequestSpec } from '../../client/call/request.ts'
import { lengthUs } from '../../contract/contract.ts'
import { cellsNamed } from '../../limits/band.ts'
import { lookup } from '../../user/lookup.ts'
import { pricesOf } from '../prices.ts'
import type { ProbeResponse } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import { notAskable, ofFacets, oneGap } from '../question.ts'

interface Class {
  readonly name: string
  /** The statuses that confirm the class. */
  readonly statuses: readonly number[]
  call(prober: Prober): Promise<ProbeResponse>
}

const wrong = (
  name: string,
  wrong: NonNullable<RequestSpec['wrong']>,
  ...statuses: readonly number[]
): Class => ({ name, statuses, call: (prober) => prober.chat({ wrong }) })

const classes: readonly Class[] = [
  wrong('400', 'invalid-parameter', 400),
  wrong('401', 'invalid-key', 401),
  wrong('unknown model', 'unknown-model', 400, 404),
  { name: 'models', statuses: [200], call: (prober) => prober.read('models') },
  { name: 'credits', statuses: [200], call: (prober) => prober.read('credits') },
]

/** A paid request, which is always counted. */
const paid: Class = {
  name: 'paid',
  statuses: [200],
  call: (prober) => prober.chat({}, { step: 'counter' }),
}

/** Calls of a class between two paid requests whose headers are compared. */
const calls = 2

/** Paid requests of a look at a class, and of a check against calls that are always counted. */
const [lookPrice, checkPrice] = [2, calls + 2]

/** Repeated looks at a class, at most. */
const moreLooks = 2

/** Paid requests in addition to one look at each class: enough for a check of each, or for repeated looks. */
const spareRequests = 20

/** G-18: the remaining requests before and after a few calls of each class. 403 and 429 need other means. */
export const countedClasses = oneGap('G-18', {
  price: ({ contract, readCredits }) =>
    (lookPrice * classes.length + spareRequests) * pricesOf(contract).least +
    2 * 2 * calls * readCredits,
  async ask(prober) {
    const found: Record<string, string | { oneOf: readonly string[] }> = lookup()
    const evidence: string[] = []
    let shown = false
    let spare = spareRequests
    const afford = (requests: number) => {
      if (spare < requests) return false
      spare -= requests
      return true
    }
    for (const each of classes) {
      const { name } = each
      let look = await remainingFall(prober, each)
      // A window may have ended in between. Then another look decides, or one more in the next window.
      for (let more = 0; more < moreLooks && !tells(look) && afford(lookPrice); more++)
        look = await remainingFall(prober, each)
      if (typeof look === 'string') evidence.push(`${name}: ${look}`)
      const seen = typeof look === 'string' ? null : look
      if (seen !== null) shown = true
      // The limiter may have restored what the calls took.
      const seemsFree = seen?.fell === 0 && seen.mayComeBack >= calls
      const isSure =
        !seen?.mayBeNewWindow &&
        (!seemsFree || (afford(checkPrice) && (await nothingComesBack(prober, seen!))))
      const fell = isSure ? (seen?.fell ?? null) : null
      if (seen !== null)
        evidence.push(`${name}: remaining fell by ${fell ?? 'unknown'} over ${calls} calls`)
      found[name] =
        fell === 0
          ? 'not counted'
          : fell === calls
            ? 'counted'
            : { oneOf: ['counted', 'not counted'] }
    }
    if (!shown) return notAskable(`no class could be looked at: ${evidence.join('; ')}`)
    found['429'] = { oneOf: ['counted', 'not counted'] }
    return ofFacets(found, ...evidence)
  },
})

interface Fall {
  /** Remaining requests that the calls between two paid requests took. */
  readonly fell: number
  /** Whether the value also fits a window that ended meanwhile, with the calls counted in the next one. */
  readonly mayBeNewWindow: boolean
  /** Service time. */
  readonly tookUs: number
  /** Requests that reached the age of a window meanwhile. A sliding log drops them all at once. */
  readonly forgotten: number
  /** Most requests that the limiter may have restored meanwhile, by time or by dropping old ones. */
  readonly mayComeBack: number
}

const tells = (look: Fall | string): boolean =>
  typeof look !== 'string' && look.fell >= 0 && !look.mayBeNewWindow

/** How many remaining requests a few calls took, or why that is unknown. */
async function remainingFall(
  prober: Prober,
  { statuses, call }: Pick<Class, 'statuses' | 'call'>,
): Promise<Fall | string> {
  const beganUs = prober.now()
  const began = prober.responses.length
  const before = await prober.chat({}, { step: 'counter' })
  for (let nth = 0; nth < calls; nth++) await call(prober)
  const after = await prober.chat({}, { step: 'counter' })
  // Repeated requests may have been counted each time.
  const seen = prober.responses.slice(began).map(({ status }) => status)
  const expected = [[200], ...Array.from({ length: calls }, () => statuses), [200]]
  const isAsExpected = expected.every((each, nth) => each.includes(seen[nth] ?? 0))
  if (seen.length !== expected.length || !isAsExpected)
    return `statuses ${seen.map((status) => status ?? 'none').join(', ')}`
  const [a, b] = [before.columns, after.columns]
  if (a.rateRemaining === null || b.rateRemaining === null || a.rateLimit !== b.rateLimit)
    return 'no two answers show what remains of one limit'
  if (a.rateRemaining === 0 && b.rateRemaining === 0)
    return 'nothing remains after any request, as where a limiter paces'
  const { timeScale } = prober.options
  const [fromUs, untilUs] = [beganUs * timeScale, prober.now() * timeScale]
  const limit = a.rateLimit ?? 0
  const us = lengthUs(cellsNamed(prober.contract, limit)[0]?.window ?? 'minute')
  const forgotten = prober.limited.filter(
    (each) => each.untilUs >= fromUs - us && each.fromUs <= untilUs - us,
  ).length
  const tookUs = untilUs - fromUs
  const fell = a.rateRemaining - b.rateRemaining - 1
  return {
    fell,
    mayBeNewWindow: fell === 0 && b.rateRemaining === limit - calls - 1,
    tookUs,
    forgotten,
    mayComeBack: Math.max(Math.ceil((limit * tookUs) / us), forgotten),
  }
}

/** Whether calls that took nothing are really free: an equal number of paid calls must show as counted. */
async function nothingComesBack(prober: Prober, { tookUs, forgotten }: Fall): Promise<boolean> {
  if (forgotten >= calls) return false
  const counted = await remainingFall(prober, paid)
  return typeof counted !== 'string' && counted.fell === calls && counted.tookUs >= tookUs
}
