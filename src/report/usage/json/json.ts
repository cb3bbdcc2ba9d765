import { tokenFields } from '../../../measure/usage/quantities.ts'
import { safeJson } from '../../../user/hostile.ts'
import type { SeriesPoint, UsagePage } from '../shape.ts'
import { pointColumns, type UsageJson } from './shape.ts'

/** What settings say of the account, beside the page. */
export type SettingsJson = Pick<UsageJson, 'budgets' | 'closings'>
export const noSettings: SettingsJson = { budgets: null, closings: null }

/** The page for programs (`docs/schema/usage.json`): hours and days are tables without the buckets in which nothing was. */
export function usageJson(page: UsagePage, state = noSettings): UsageJson {
  const { courses: _, ...told } = page
  const anomalies = page.anomalies.map((each) => ({
    ...each,
    rows: each.rows.map(({ hour: _, ...row }) => row),
  }))
  const series = { hours: pointsOf(page.hours), days: pointsOf(page.days) }
  return { ...told, ...series, anomalies, ...state } as UsageJson
}

/** Its text, safe to print on a terminal: a line for each row. */
export const usageJsonText = (page: UsagePage, state = noSettings): string =>
  safeJson(textOf(usageJson(page, state), ''))

/** JSON with at most one list or object of plain values in a line. */
function textOf(value: unknown, indent: string): string {
  const isFlat =
    typeof value !== 'object' ||
    value === null ||
    Object.values(value).every((each) => typeof each !== 'object' || each === null || isSmall(each))
  if (isFlat) return JSON.stringify(value)
  const deeper = `${indent} `
  const parts = Array.isArray(value)
    ? value.map((each) => textOf(each, deeper))
    : Object.entries(value).map(
        ([name, each]) => `${JSON.stringify(name)}: ${textOf(each, deeper)}`,
      )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.map((part) => deeper + part).join(',\n')}\n${indent}${close}`
}

/** Amounts by unit, in a row. */
const isSmall = (value: object) =>
  !Array.isArray(value) && Object.values(value).every((each) => typeof each === 'string')

function pointsOf(points: readonly SeriesPoint[]): UsageJson['hours'] {
  const used = points.filter(
    ({ requests, credits, money, ...point }) =>
      [requests, credits, ...tokenFields.map((field) => point[field])].some(
        (value) => value !== null && value !== 0,
      ) || Object.values(money).some((amount) => Number(amount) !== 0),
  )
  return {
    columns: [...pointColumns],
    rows: used.map((point) =>
      pointColumns.map((name) => (name === 'start' ? point.label : point[name])),
    ),
    measured: measuredIn(points),
  }
}

/** The stretches of buckets of which any series is covered. */
function measuredIn(points: readonly SeriesPoint[]): UsageJson['hours']['measured'] {
  const ends = new Map<number, number>()
  for (const { startUs, lengthS, requests } of points)
    if (requests !== null) ends.set(startUs, startUs + lengthS * 1e6)
  const stretches: { fromUs: number; toUs: number }[] = []
  for (const [fromUs, toUs] of [...ends].sort(([a], [b]) => a - b)) {
    const last = stretches.at(-1)
    if (last !== undefined && fromUs <= last.toUs) last.toUs = Math.max(last.toUs, toUs)
    else stretches.push({ fromUs, toUs })
  }
  return stretches
}
