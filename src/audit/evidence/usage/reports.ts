import { isObject, type JsonObject } from '../../../user/json.ts'
import type { Evidence } from '../../rule.ts'
import { type Exchange, exchangesOf } from '../exchange.ts'
import { type Breakdowns, breakdownsOf } from './buckets.ts'
import {
  type Field,
  fieldsOf,
  numbersNamed,
  numeric,
  ofCredits,
  ofTheWhole,
  spent,
  textNamed,
  unreadableNamed,
} from './fields.ts'

/** A response of the credits endpoint. Its field names are open (gap G-09): words in them identify them at any depth. */
export interface UsageReport extends Breakdowns {
  readonly exchange: Exchange
  /** Null if several numbers fit. */
  readonly granted: number | null
  readonly expired: number | null
  /** Over all time. */
  readonly consumed: number | null
  /** In the requested range, if the response reports it separately. */
  readonly consumedInRange: number | null
  readonly remaining: number | null
  /** The remaining credits in its own header; null without one. */
  readonly shown: number | null
  /** What stands where the remaining credits should be, and is no number: `1,499`; null without one. */
  readonly unreadable: string | null
  readonly requests: number | null
  readonly averageTokens: number | null
  /** When the account began, if reported. */
  readonly beganAt: string | null
}

/** Names of what is left, and then names that contain such a word. */
const left =
  /^(?:(?:total|current|available)_)?(?:credits?_)?(?:remaining|balance|left)(?:_credits?)?$/
const perhapsLeft = [/remaining/, /balance/, /left/]
/** Amounts beside what is left: of another time, of a part, or a bound. */
const notLeft =
  /threshold|opening|closing|start|initial|previous|pending|reserved|held|min(?:imum)?(?:_|$)|low_|alert|overdraft/
/** Averages of a part of the tokens, and requests that failed. */
const ofAPart = /input|prompt|output|completion|cache|reason|fail|reject|error|refus/

/** All completely captured responses of the credits endpoint, run by run, each in order of time. */
export async function usageReports(evidence: Evidence): Promise<readonly UsageReport[]> {
  const exchanges = await exchangesOf(evidence)
  const names = evidence.contract.headers?.creditsRemaining ?? []
  const reports = exchanges.flatMap((exchange) => {
    const body =
      exchange.row.endpoint === 'credits' && exchange.isOk ? exchange.responseJson : undefined
    return isObject(body) ? [readReport(exchange, body, names)] : []
  })
  // A request that was sent again has an earlier slot than some that were sent before it.
  const ofRuns = Map.groupBy(reports, ({ exchange }) => exchange.row.runId)
  return [...ofRuns.values()].flatMap((ofRun) =>
    ofRun.toSorted((a, b) => a.exchange.row.sentUs - b.exchange.row.sentUs),
  )
}

/** What a body of the credits endpoint says, and the headers of its answer that show the remaining credits. */
export function readReport(
  exchange: Exchange,
  body: JsonObject,
  headers: readonly string[],
): UsageReport {
  const fields = fieldsOf(body)
  const whole = ofTheWhole(fields)
  const amounts = ofCredits(whole)
  const credits = (...patterns: readonly RegExp[]) => numbersNamed(amounts, ...patterns)[0] ?? null
  const ofAll = whole.filter(({ name }) => !ofAPart.test(name))
  const number = (...patterns: readonly RegExp[]) => numbersNamed(ofAll, ...patterns)[0] ?? null
  const amountsLeft = perhapsLeftIn(fields)
  const remaining = leftIn(amountsLeft)
  const grants = numbersNamed(amounts, /granted/, /total_credits/)
  return {
    exchange,
    granted: grants.length === 1 ? grants[0]! : null,
    expired: credits(/expired/, /lapsed/),
    consumed: credits(/total_(?:consumed|used|spent|usage)/, ...spent),
    consumedInRange: credits(/^(?:consumed|used|spent|usage)$/, ...spent),
    remaining,
    shown: numeric(headers.flatMap((name) => exchange.header(name) ?? [])[0]),
    unreadable: remaining === null ? unreadableNamed(amountsLeft, ...perhapsLeft) : null,
    requests: number(/^(?:total_)?requests$/, /^request_count$/, /total_requests/, /request_count/),
    averageTokens: number(
      /^(?:average|avg|mean)_(?:total_)?tokens(?:_per_request)?$/,
      /^tokens?_per_request$/,
      /(?:average|avg|mean).*token/,
      /tokens?_per_request/,
    ),
    ...breakdownsOf(fields),
    beganAt: textNamed(
      whole,
      /^(?:account_)?(?:created|opened|registered)(?:_at)?$|^member_since$/,
    ),
  }
}

/** The remaining credits that a body of the credits endpoint tells; null without such a number. */
export const remainingOf = (body: JsonObject): number | null =>
  leftIn(perhapsLeftIn(fieldsOf(body)))

const perhapsLeftIn = (fields: readonly Field[]): readonly Field[] =>
  ofCredits(ofTheWhole(fields)).filter(({ name }) => !notLeft.test(name))

/** What is left; null if several different amounts may be it. */
function leftIn(amounts: readonly Field[]): number | null {
  const [named] = numbersNamed(amounts, left)
  if (named !== undefined) return named
  const others = new Set(numbersNamed(amounts, ...perhapsLeft))
  return others.size === 1 ? [...others][0]! : null
}
