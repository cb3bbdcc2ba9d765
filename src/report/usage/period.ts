import { quarterUs } from '../../measure/usage/quantities.ts'
import { UserError } from '../../user/user-error.ts'
import { accountOf, type UsageOptions, type UsageScope } from './shape.ts'
import { endOfDayUs, shiftDaysUs, startOfDayUs } from './zone.ts'

/** The longest month, in days. */
const mostDefaultDays = 31

/** @param firstOfBillsUs the first entry of a bill that is no use, in Unix microseconds */
export function scopeOf(
  options: UsageOptions,
  sources: UsageScope['sources'],
  firstOfBillsUs: number | null = null,
): UsageScope {
  const { timezone, by, nowUs } = options
  const lastUs = Math.max(...sources.map((each) => each.lastUs))
  const toUs = options.toUs ?? endOfDayUs(lastUs, timezone)
  const fromUs = options.fromUs ?? firstDayUs(sources, firstOfBillsUs, toUs, timezone)
  if (fromUs >= toUs) {
    throw new UserError(
      'report',
      `The period from ${new Date(fromUs / 1000).toISOString()} to ${new Date(toUs / 1000).toISOString()} is empty: --to must come after --from.`,
    )
  }
  if (fromUs % quarterUs !== 0 || toUs % quarterUs !== 0) {
    throw new UserError(
      'report',
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
  const first = Math.min(...sources.map((each) => each.firstUs), firstOfBillsUs ?? Infinity)
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

/** Share of the preceding period that may be missing at its start: no log begins exactly on time. */
const mostMissing = 0.02

/**
 * The preceding period of as many local days. It is cut to the elapsed part of this one, to compare half a month with
 * half a month. Empty if it was not measured from its start.
 */
export function periodBefore(
  scope: UsageScope,
  sources: UsageScope['sources'],
): readonly [number, number] {
  const { fromUs, toUs, timezone } = scope
  const days = Math.round((toUs - fromUs) / 86_400e6)
  const whole = shiftDaysUs(fromUs, days, timezone) === toUs
  const beforeFrom = whole ? shiftDaysUs(fromUs, -days, timezone) : fromUs - (toUs - fromUs)
  const coveredTo = Math.max(...sources.map((each) => each.lastUs)) + 1
  const passed = Math.min(toUs, Math.max(coveredTo, fromUs)) - fromUs
  const elapsed = passed < toUs - fromUs ? passed : fromUs - beforeFrom
  const quarters = Math.ceil(elapsed / quarterUs) * quarterUs
  const beforeTo = Math.min(fromUs, beforeFrom + quarters)
  const missing = Math.min(...sources.map((each) => each.firstUs)) - beforeFrom
  return missing > mostMissing * (beforeTo - beforeFrom) ? [fromUs, fromUs] : [beforeFrom, beforeTo]
}
