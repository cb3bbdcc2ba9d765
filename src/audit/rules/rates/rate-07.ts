import { flags } from '../../../attempt/flags.ts'
import { structuredNames } from '../../../contract/contract.ts'
import type { Promising } from '../../../contract/promises.ts'
import { fail, notObserved, pass } from '../../verdict.ts'
import { earlier } from './event-order.ts'
import { type RateEvent, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'

export const rate07 = rateRule({
  id: 'RATE-07',
  title: 'The rate-limit headers are present and numeric',
  promised: ['headers.rate_limit, rate_remaining or rate_reset'],
  explain: `Looks at successes and at rejections (429) of the generation endpoints, and counts them
separately. Whether other errors and reads carry the headers is open (gap G-19), so they decide nothing.
Only the headers that the contract names must be there. A limit or a rest that is no plain number, or an
empty header, fails as well. A reset may have every form that Assay reads ("1s", a date), unless the contract
names one (reset_format). The structured fields RateLimit and RateLimit-Policy count if the contract names them.`,
  decide({ byAccount }, { contract }) {
    const served = new Kind()
    const rejected = new Kind()
    for (const events of byAccount.values()) {
      for (const event of events) {
        const { decision, endpoint } = event
        const isGeneration = endpoint === 'chat' || endpoint === 'messages'
        if (decision === 'admitted') served.add(event, contract)
        else if (decision === 'rejected' && isGeneration) rejected.add(event, contract)
      }
    }
    const observations = served.seen + rejected.seen
    if (observations === 0) return notObserved('one generation request')
    const first = served.first ?? rejected.first
    if (first !== undefined) {
      const issues = issuesOf(contract, first).join(', ')
      return fail(observations, {
        expected: `${headerNames(contract).join(', ')} with a number each`,
        observed: issues,
        witnesses: [witnessOf(first, `status ${first.status}: ${issues}`)],
        note: `so on ${served.faulty} of ${served.seen} successes, ${rejected.faulty} of ${rejected.seen} rejections`,
      })
    }
    return pass(observations, {
      note: `${served.seen} successes${rejected.seen === 0 ? '; no rejection was seen' : `, ${rejected.seen} rejections`}`,
    })
  },
})

/** Successes, or rejections. */
class Kind {
  seen = 0
  faulty = 0
  first: RateEvent | undefined

  add(event: RateEvent, contract: Promised): void {
    this.seen++
    if (issuesOf(contract, event).length === 0) return
    this.faulty++
    this.first = earlier(this.first, event)
  }
}

/** Forms of a reset that are no plain number. */
const texts: readonly string[] = ['duration', 'time']

type Promised = Promising<'headers.rate_limit, rate_remaining or rate_reset'>

function headerNames({ headers }: Promised): readonly string[] {
  const all = [headers.rateLimit, headers.rateRemaining, headers.rateReset].flatMap((names) =>
    names === undefined ? [] : names.join(' or '),
  )
  // One structured field may have all three.
  return [...new Set(all)]
}

function issuesOf({ headers, resetFormat }: Promised, event: RateEvent): readonly string[] {
  const { limit, remaining, reset } = event
  const shown = [
    [headers.rateLimit, limit, flags.malformedRateLimit, false],
    [headers.rateRemaining, remaining, flags.malformedRateRemaining, false],
    [headers.rateReset, reset, flags.malformedRateReset, true],
  ] as const
  const issues = shown.flatMap(([names, value, malformed, isReset]) => {
    if (names === undefined) return []
    const name = names.join(' or ')
    const isStructured = (event.flags & flags.structuredRateLimit) !== 0
    if (isStructured && !names.some((each) => structuredNames.includes(each)))
      return [`${name} is missing`]
    const isText = isReset && resetFormat !== undefined && texts.includes(resetFormat)
    const mayBeText = isReset && (resetFormat === undefined || isText)
    const isNumber = (event.flags & malformed) === 0
    if (isText && isNumber && value !== null) return [`${name} is a number, not a ${resetFormat}`]
    if (!isNumber && (!mayBeText || value === null))
      return [`${name} is not a ${isText ? resetFormat : 'number'}`]
    return value === null ? [`${name} is missing`] : []
  })
  return [...new Set(issues)]
}
