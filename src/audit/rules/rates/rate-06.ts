import { effectOf } from '../../../attempt/outcome.ts'
import type { Contract } from '../../../contract/contract.ts'
import { usualOf } from '../../../contract/usual.ts'
import { fail, notesOf, notObserved, pass } from '../../verdict.ts'
import { earlier } from './event-order.ts'
import { type RateEvent, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'

export const rate06 = rateRule({
  id: 'RATE-06',
  title: 'Exceeding a limit gives 429 with a rate-limit error, and costs nothing',
  section: '§7.1, §7.2, §7.3, §8.4.3',
  promised: ['bands', 'chat_errors or messages_errors'],
  explain: `A 429 carries a type that the contract promises for 429, and in the chat shape a code with it; no
other status carries a name that is promised for 429 alone. Without such a row in its tables, and on a format without a table, only the
charge is judged. A single rejection between two successes of the
account must not be charged: the balance may fall by the price of one success between them, or by both
prices if they differ in endpoint or stream, because each kind may show the balance before or after its
own charge (gap G-12). The ten minutes after an attempt that was cut off decide nothing, because its
charge may be late. Under concurrency, BILL-05 decides the charge.`,
  decide({ byAccount }, evidence) {
    const namesAt = namesByEndpoint(evidence.contract)
    let observations = 0
    let first: RateEvent | undefined
    for (const events of byAccount.values()) {
      for (const event of events) {
        if (!isRelevant(event, namesAt(event))) continue
        observations++
        if (issueOf(event, namesAt(event)) !== null) first = earlier(first, event)
      }
    }
    if (observations === 0) return notObserved('a rejection (429)')
    if (first !== undefined) {
      const observed = issueOf(first, namesAt(first))!
      return fail(observations, {
        expected: `429 with ${namesAt(first).allowed.map(shown).join(', or ')}`,
        observed,
        witnesses: [witnessOf(first, observed)],
      })
    }
    let between = 0
    for (const ofAccount of byAccount.values()) {
      const { compared, charged } = chargedRejection(
        ofAccount,
        usualOf(evidence.contract).timeouts.streamMs * 1e3,
      )
      between += compared
      if (charged === null) continue
      const [before, rejections, after] = charged
      return fail(observations, {
        expected: `at least ${before.credits! - priceBetween(before, after)} credits after ${before.credits}: rejections cost nothing`,
        observed: `${after.credits}`,
        witnesses: [
          witnessOf(before, `${before.credits} credits`),
          ...rejections.map((rejection) => witnessOf(rejection, '429 in between')),
          witnessOf(after, `${after.credits} credits`),
        ],
      })
    }
    return pass(
      observations,
      notesOf(
        between === 0
          ? 'whether a rejection is charged was not tested: none was alone between two successes that show the balance'
          : undefined,
      ),
    )
  },
})

/** The code and type of an error; in the messages shape there is no code. */
interface ErrorName {
  readonly code: string | null
  readonly type: string
}

interface RejectionNames {
  /** Those that a 429 may carry. */
  readonly allowed: readonly ErrorName[]
  /** Codes and types of 429 that no other status may carry. */
  readonly own: ReadonlySet<string>
}

const shown = ({ code, type }: ErrorName) =>
  code === null ? `type ${type} in the messages shape` : `type ${type} and code ${code}`

const noNames: RejectionNames = { allowed: [], own: new Set() }

/** The names at the endpoint of a request: none of a format without a table, nor, unless both have one, at any other endpoint. */
function namesByEndpoint(contract: Contract): (event: RateEvent) => RejectionNames {
  const names = namesOf(contract)
  const tables = { chat: contract.chatErrors, messages: contract.messagesErrors }
  const without = Object.values(tables).some((table = []) => table.length === 0)
  return ({ endpoint }) => {
    const isPromised =
      endpoint === 'chat' || endpoint === 'messages'
        ? (tables[endpoint] ?? []).length > 0
        : !without
    return isPromised ? names : noNames
  }
}

function namesOf({ chatErrors = [], messagesErrors = [] }: Contract): RejectionNames {
  const rows = [
    ...chatErrors.map(({ status, ...name }) => ({
      name,
      statuses: status === null ? null : [status],
    })),
    ...messagesErrors.map(({ type, statuses }) => ({ name: { code: null, type }, statuses })),
  ]
  const wordsOf = (of: typeof rows) =>
    of.flatMap(({ name: { code, type } }) => (code === null ? [type] : [code, type]))
  const promised = rows.filter(({ statuses }) => statuses?.includes(429))
  const others = new Set(wordsOf(rows.filter(({ statuses }) => statuses?.join() !== '429')))
  return {
    // An error whose status is open may come with a 429, too.
    allowed:
      promised.length === 0
        ? []
        : rows.filter(({ statuses }) => statuses?.includes(429) ?? true).map(({ name }) => name),
    own: new Set(wordsOf(promised).filter((word) => !others.has(word))),
  }
}

function isRelevant(
  { outcome, decision, errorCode, errorType }: RateEvent,
  { own }: RejectionNames,
): boolean {
  const isNamed = [errorCode, errorType].some((name) => name !== null && own.has(name))
  // An aborted request has no body to judge.
  return outcome === 'http_error' && (decision === 'rejected' || isNamed)
}

function issueOf(
  { status, errorCode, errorType }: RateEvent,
  { allowed }: RejectionNames,
): string | null {
  if (status !== 429) return `status ${status} with ${errorCode ?? errorType}`
  // A client that aborted before the body did not receive the names.
  if (allowed.length === 0 || (errorCode === null && errorType === null)) return null
  const ofType = allowed.filter(({ type }) => type === errorType)
  if (ofType.length === 0) return `429 with type ${errorType ?? 'none'}`
  if (errorCode === null || ofType.some(({ code }) => code === errorCode)) return null
  return `429 with code ${errorCode}`
}

/** Possible cost of two successes between their headers, each before or after its charge. */
function priceBetween(before: RateEvent, after: RateEvent): number {
  const alike = before.endpoint === after.endpoint && before.streamed === after.streamed
  return alike
    ? Math.max(before.costCredits, after.costCredits)
    : before.costCredits + after.costCredits
}

/**
 * Two successes with only rejections between them, whose balance fell by too much, and how many such pairs there are up to it.
 *
 * @param lateUs how long after an interrupted attempt its charge may come
 */
function chargedRejection(
  events: readonly RateEvent[],
  lateUs: number,
): {
  readonly compared: number
  readonly charged: readonly [RateEvent, readonly RateEvent[], RateEvent] | null
} {
  let compared = 0
  let before: RateEvent | null = null
  let between: RateEvent[] = []
  let busyUntilUs = -Infinity
  for (const event of events) {
    const alone = event.fromUs >= busyUntilUs
    const cutOff = effectOf(event.outcome, true) === 'ambiguous'
    busyUntilUs = Math.max(busyUntilUs, event.closedUs + (cutOff ? lateUs : 0))
    if (!alone) before = null
    const whole = event.decision === 'admitted' && !cutOff && event.credits !== null
    if (event.decision === 'rejected' && before !== null) {
      between.push(event)
    } else if (whole) {
      if (before !== null && between.length > 0) {
        compared++
        const excess = before.credits! - event.credits! - priceBetween(before, event)
        // An excess above the possible cost of the rejections was taken by something else.
        if (excess >= between.length && excess <= between.length * event.costCredits) {
          return { compared, charged: [before, between, event] }
        }
      }
      before = event
      between = []
    } else {
      before = null
      between = []
    }
  }
  return { compared, charged: null }
}
