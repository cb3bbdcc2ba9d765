import type { RequestSpec } from '../../client/request.ts'
import { windowUs } from '../../contract/contract.ts'
import { cellsNamed } from '../../limits/band.ts'
import type { ProbeResponse } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import { notAskable, ofFacets, pricesOf, type Question } from '../question.ts'

interface Class {
  readonly name: string
  /** How a call ends that belongs to the class. */
  readonly statuses: readonly number[]
  call(prober: Prober): Promise<ProbeResponse>
}

const wrong = (
  name: string,
  fault: NonNullable<RequestSpec['wrong']>,
  ...statuses: readonly number[]
): Class => ({
  ...{ name, statuses },
  call: (prober) => prober.chat({ wrong: fault }),
})

const classes: readonly Class[] = [
  wrong('400', 'invalid-parameter', 400),
  wrong('401', 'invalid-key', 401),
  wrong('unknown model', 'unknown-model', 400, 404),
  { name: 'models', statuses: [200], call: (prober) => prober.read('models') },
  { name: 'credits', statuses: [200], call: (prober) => prober.read('credits') },
]

/** Another paid request, of which each is counted. */
const paid: Class = {
  ...{ name: 'paid', statuses: [200] },
  call: (prober) => prober.chat({}, { step: 'counter' }),
}

/** Calls of a class between two paid requests whose headers are compared. */
const calls = 2

/** Paid requests of a look at a class, and of one at what is counted for certain. */
const [lookPrice, checkPrice] = [2, calls + 2]

/** Looks at a class after the first. */
const moreLooks = 2

/** Paid requests besides a look at each class: enough for a check of each, or for looks once more. */
const spareRequests = 20

/** G-18: what remains before and after a few calls of each class. 403 and 429 need other means. */
export const countedClasses: Question = {
  gaps: ['G-18'],
  price: ({ contract, readCredits }) =>
    (lookPrice * classes.length + spareRequests) * pricesOf(contract).least +
    2 * 2 * calls * readCredits,
  async ask(prober) {
    const found: Record<string, string | { oneOf: readonly string[] }> = {}
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
      // A window may have ended in between: one more look tells, or one more in the next window.
      for (let more = 0; more < moreLooks && !tells(look) && afford(lookPrice); more++) {
        look = await remainingFall(prober, each)
      }
      if (typeof look === 'string') evidence.push(`${name}: ${look}`)
      const seen = typeof look === 'string' ? null : look
      if (seen !== null) shown = true
      // What took nothing may have been put back meanwhile.
      const seemsFree = seen?.fell === 0 && seen.mayComeBack >= calls
      const isSure =
        !seen?.mayBeNewWindow &&
        (!seemsFree || (afford(checkPrice) && (await nothingComesBack(prober, seen!))))
      const fell = isSure ? (seen?.fell ?? null) : null
      if (seen !== null) {
        evidence.push(`${name}: remaining fell by ${fell ?? 'unknown'} over ${calls} calls`)
      }
      found[name] =
        fell === 0
          ? 'not counted'
          : fell === calls
            ? 'counted'
            : { oneOf: ['counted', 'not counted'] }
    }
    if (!shown) {
      return { 'G-18': notAskable(`no class could be looked at: ${evidence.join('; ')}`) }
    }
    found['429'] = { oneOf: ['counted', 'not counted'] }
    return { 'G-18': ofFacets(found, ...evidence) }
  },
}

interface Fall {
  /** What the calls between two paid requests took of what remains. */
  readonly fell: number
  /** Whether as much would remain where a window had ended meanwhile and the calls were counted in the next. */
  readonly mayBeNewWindow: boolean
  /** In the service's time. */
  readonly tookUs: number
  /** Requests that were a window old then, which a log forgets all at once. */
  readonly forgotten: number
  /** What may have been put back meanwhile, by a limiter that gains as time passes or one that forgets. */
  readonly mayComeBack: number
}

function tells(look: Fall | string): boolean {
  return typeof look !== 'string' && look.fell >= 0 && !look.mayBeNewWindow
}

/** What a few calls took of the remaining requests, or why that is not told. */
async function remainingFall(
  prober: Prober,
  { statuses, call }: Pick<Class, 'statuses' | 'call'>,
): Promise<Fall | string> {
  const beganUs = prober.now()
  const began = prober.responses.length
  const before = await prober.chat({}, { step: 'counter' })
  for (let nth = 0; nth < calls; nth++) await call(prober)
  const after = await prober.chat({}, { step: 'counter' })
  // What was asked again may have been counted each time.
  const seen = prober.responses.slice(began).map(({ status }) => status)
  const expected = [[200], ...Array.from({ length: calls }, () => statuses), [200]]
  const isAsExpected = expected.every((each, nth) => each.includes(seen[nth] ?? 0))
  if (seen.length !== expected.length || !isAsExpected) {
    return `statuses ${seen.map((status) => status ?? 'none').join(', ')}`
  }
  const [a, b] = [before.columns, after.columns]
  if (a.rateRemaining === null || b.rateRemaining === null || a.rateLimit !== b.rateLimit) {
    return 'no two answers show what remains of one limit'
  }
  if (a.rateRemaining === 0 && b.rateRemaining === 0) {
    return 'nothing remains after any request, as where a limiter paces'
  }
  const { timeScale } = prober.options
  const [fromUs, untilUs] = [beganUs * timeScale, prober.now() * timeScale]
  const limit = a.rateLimit ?? 0
  const us = windowUs[cellsNamed(prober.contract, limit)[0]?.window ?? 'minute']
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

/** Whether calls that took nothing did not only seem so: as many that are counted are seen to be. */
async function nothingComesBack(prober: Prober, { tookUs, forgotten }: Fall): Promise<boolean> {
  if (forgotten >= calls) return false
  const counted = await remainingFall(prober, paid)
  return typeof counted !== 'string' && counted.fell === calls && counted.tookUs >= tookUs
}
