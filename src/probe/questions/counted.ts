import type { RequestSpec } from '../../client/request.ts'
import type { Asking } from '../asking.ts'
import { notAskable, ofFacets, pricesOf, type Question } from '../question.ts'
import type { Reply } from '../reply.ts'

interface Class {
  readonly name: string
  call(asking: Asking): Promise<Reply>
}

const wrong = (name: string, fault: NonNullable<RequestSpec['wrong']>): Class => ({
  name,
  call: (asking) => asking.chat({ wrong: fault }),
})

const classes: readonly Class[] = [
  wrong('400', 'invalid-parameter'),
  wrong('401', 'invalid-key'),
  wrong('unknown model', 'unknown-model'),
  { name: 'models', call: (asking) => asking.read('models') },
  { name: 'credits', call: (asking) => asking.read('credits') },
]

/** Calls of a class between two paid requests whose headers are compared. */
const calls = 2

/** G-18: what remains before and after a few calls of each class. 403 and 429 need other means. */
export const countedClasses: Question = {
  gaps: ['G-18'],
  price: ({ contract }) => (2 * classes.length + 2) * pricesOf(contract).least + 2 * calls,
  async ask(asking) {
    const found: Record<string, string | { oneOf: readonly string[] }> = {}
    const evidence: string[] = []
    let shown = false
    for (const { name, call } of classes) {
      let fell: number | null = null
      // A window may end in between: one more try tells.
      for (let attempt = 0; attempt < 2 && (fell === null || fell < 0); attempt++) {
        fell = await remainingFall(asking, call)
        if (fell !== null) shown = true
      }
      evidence.push(`${name}: remaining fell by ${fell ?? 'unknown'} over ${calls} calls`)
      found[name] =
        fell === 0
          ? 'not counted'
          : fell === calls
            ? 'counted'
            : { oneOf: ['counted', 'not counted'] }
    }
    if (!shown) {
      return { 'G-18': notAskable('no answer shows what remains, or it does not fall by one') }
    }
    found['429'] = { oneOf: ['counted', 'not counted'] }
    return { 'G-18': ofFacets(found, ...evidence) }
  },
}

/** What a few calls took of the remaining requests; null where the headers do not tell. */
async function remainingFall(asking: Asking, call: Class['call']): Promise<number | null> {
  const before = await asking.chat({}, { step: 'counter' })
  for (let nth = 0; nth < calls; nth++) await call(asking)
  const after = await asking.chat({}, { step: 'counter' })
  const [a, b] = [before.columns, after.columns]
  if (a.rateRemaining === null || b.rateRemaining === null || a.rateLimit !== b.rateLimit) {
    return null
  }
  // A limiter that paces shows nothing remaining after each request: it does not tell.
  if (a.rateRemaining === 0 && b.rateRemaining === 0) return null
  return a.rateRemaining - b.rateRemaining - 1
}
