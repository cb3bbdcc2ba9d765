import { shownIn } from '../../measure/measures.ts'
import { shownAmount } from '../../money/money.ts'
import { readNumber } from '../../money/rational.ts'
import { counted } from '../../user/grouped.ts'
import { certificateLines } from '../certificate/words.ts'
import { fewText, groupsOf, measuredMetrics, rate, tokenNotes, whole } from './figures.ts'
import { fluidityNotes } from './fluidity.ts'
import type { MetricName } from './group-shape.ts'
import { lengthNotes } from './lengths.ts'
import type { RunSummary } from './shape.ts'

/** The times of a summary, in the order of its table. */
export const shownTimes: readonly MetricName[] = [...shownIn('everywhere'), 'itl', 'failure']

/** A part of a certificate may say much. */
const longestLine = 1_000
export const certified = (
  { certificate }: RunSummary,
  shown: (text: string, longest: number) => string,
) =>
  certificate === null ? [] : certificateLines(certificate).map((line) => shown(line, longestLine))

/** The samples that the missing percentiles need. */
export const fewOf = (summary: RunSummary): string | null =>
  fewText(
    groupsOf(summary).flatMap((group) =>
      measuredMetrics(group, shownTimes).map(([, distribution]) => distribution),
    ),
  )

export type Errors = RunSummary['errors']

export function errorText(error: Errors[number]): string {
  const said = [error.outcome, error.status, error.code, error.reason]
  return [...said, error.onPurpose ? '(on purpose)' : null]
    .filter((part) => part !== null)
    .join(' ')
}

export const totalOf = (errors: Errors) => errors.reduce((sum, error) => sum + error.count, 0)

export const furtherKinds = ({ length }: Errors): string =>
  `of ${whole(length)} more ${length === 1 ? 'kind' : 'kinds'}; --json lists all`

export const isPaidInCredits = ({ stated, balances }: RunSummary['credits']) =>
  stated || balances.length > 0

export type Money = NonNullable<RunSummary['money']>

export function moneyText({ spent, unit, unknown }: Money): string {
  const more = unknown === 0 ? '' : `, and ${counted(unknown, 'request')} of unknown cost`
  return `${shownAmount(readNumber(spent)!, unit)} by the contract${more}`
}

export function creditsText({
  spent,
  spentAtMost,
  balances,
  otherTries,
}: RunSummary['credits']): string {
  const own =
    spent === null
      ? 'not measured (a price is unknown)'
      : spentAtMost !== null && spentAtMost > spent
        ? `${rate(spent)} to ${rate(spentAtMost)} by the contract`
        : `${rate(spent)} by the contract`
  const again = otherTries.length === 0 ? '' : `, ${triesText(otherTries)}`
  const [only] = balances
  return balances.length === 1
    ? `${own}${again}, balance ${rate(only!.first)} to ${rate(only!.last)}`
    : `${own}${again}`
}

/** The self-tests list their names. */
function triesText(tries: RunSummary['credits']['otherTries']): string {
  const spent = tries.map((each) => each.spent)
  const sum = spent.some((each) => each === null) ? null : spent.reduce((a, b) => a! + b!, 0)
  const which =
    tries.length === 1 ? 'another try of a shard' : `${tries.length} other tries of shards`
  return `${sum === null ? 'some' : rate(sum!)} of it by ${which}`
}

/** @param nameOf how the place shows a name */
export const notesOf = (
  { all, lengths, fluidity }: RunSummary,
  nameOf: (name: string) => string,
): readonly string[] => [
  ...tokenNotes(all),
  ...lengthNotes(lengths, nameOf),
  ...fluidityNotes(fluidity, nameOf),
]
