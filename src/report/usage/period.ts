import { periodBefore } from '../../measure/usage/calendar.ts'
import { quarterUs } from '../../measure/usage/quantities.ts'
import { endOfDayUs, shiftDaysUs, startOfDayUs } from '../../measure/usage/zone.ts'
import { largest, smallest } from '../../user/extremes.ts'
import { userError } from '../../user/user-error.ts'
import { accountOf, type UsageOptions, type UsageScope } from './shape.ts'

/** The longest month, in days. */
const mostDefaultDays = 31

/** @param firstOfBillsUs the first entry of a bill that is no use, in Unix microseconds */
export function scopeOf(
  options: UsageOptions,
  sources: UsageScope['sources'],
  firstOfBillsUs: number | null = null,
): UsageScope {
  const { timezone, by, nowUs } = options
  const lastUs = largest(sources.map((each) => each.lastUs))
  const toUs = options.toUs ?? endOfDayUs(lastUs, timezone)
  const fromUs = options.fromUs ?? firstDayUs(sources, firstOfBillsUs, toUs, timezone)
  if (fromUs >= toUs) {
    throw userError.report(
      `The period from ${new Date(fromUs / 1000).toISOString()} to ${new Date(toUs / 1000).toISOString()} is empty: --to must come after --from.`,
    )
  }
  if (fromUs % quarterUs !== 0 || toUs % quarterUs !== 0) {
    throw userError.report(
      'Usage is kept in quarters of an hour: a period must begin and end on one.',
    )
  }
  const creditUsd = options.creditUsd ?? null
  return {
    fromUs,
    toUs,
    timezone,
    by,
    account: accountOf(options).account,
    nowUs,
    sources,
    creditUsd,
    unit: '',
    units: [],
    notes: notesOf(sources),
  }
}

/** The first local day with usage, but at most 31 days before the end. */
function firstDayUs(
  sources: UsageScope['sources'],
  firstOfBillsUs: number | null,
  toUs: number,
  timezone: string,
): number {
  const first = smallest(
    sources.map((each) => each.firstUs),
    firstOfBillsUs ?? Infinity,
  )
  const firstUs = startOfDayUs(first, timezone)
  const monthUs = shiftDaysUs(toUs, -mostDefaultDays, timezone)
  return firstUs < toUs ? Math.max(firstUs, monthUs) : monthUs
}

function notesOf(sources: UsageScope['sources']): readonly string[] {
  const notes: string[] = []
  const runs = sources.filter((each) => each.origin === 'run')
  const overlapping = sources.filter(
    (each) =>
      each.origin === 'import' &&
      runs.some((run) => run.firstUs <= each.lastUs && each.firstUs <= run.lastUs),
  )
  if (overlapping.length > 0) {
    notes.push(
      `The imported ${overlapping.map((each) => `"${each.source}"`).join(', ')} and runs of this store cover the same time: requests in both count twice. Choose one with --source or by naming runs.`,
    )
  }
  return notes
}

/** The preceding period, as `periodBefore` has it, of what these sources measured; empty if there is none. */
export function comparedPeriod(
  scope: UsageScope,
  sources: UsageScope['sources'],
): readonly [number, number] {
  const before = periodBefore(scope, {
    firstUs: smallest(sources.map((each) => each.firstUs)),
    lastUs: largest(sources.map((each) => each.lastUs)),
  })
  return before === null ? [scope.fromUs, scope.fromUs] : [before.fromUs, before.toUs]
}
