import { grouped } from '../user/grouped.ts'
import { momentIn } from './zone-words.ts'

/** The suffix of a column's name is its unit: `p99_ms`, `used_credits`, `error_ratio`. */
const units = {
  ms: 'ms',
  s: 's',
  us: 'µs',
  per_s: '/s',
  ratio: '%',
  credits: 'credits',
  tokens: 'tokens',
  usd: 'USD',
  bytes: 'bytes',
} as const
type Suffix = keyof typeof units

const suffixes = Object.keys(units).sort((a, b) => b.length - a.length) as Suffix[]

const suffixOf = (column: string): Suffix | null =>
  suffixes.find((suffix) => column === suffix || column.endsWith(`_${suffix}`)) ?? null

/** The unit of a column for its heading; empty without one. */
export function unitOf(column: string): string {
  const suffix = suffixOf(column)
  return suffix === null ? '' : units[suffix]
}

/** The column's name without its unit, in words. */
export function wordsOf(column: string): string {
  const suffix = suffixOf(column)
  const bare = suffix !== null && column !== suffix ? column.slice(0, -suffix.length - 1) : column
  return bare.replaceAll('_', ' ')
}

/** Three or four significant digits, grouped thousands: 0.123, 12.34, 1,234. A number that is not 0 is never shown as 0. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const size = Math.abs(value)
  if (Number.isInteger(value) || size >= 999.95) return grouped(value)
  if (size < 0.001) return value.toPrecision(2)
  const decimals = size >= 100 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4
  return value.toFixed(decimals)
}

/** A cell as text; null is "not measured", never 0. */
export function formatCell(column: string, value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (value instanceof Date) return `${momentIn(value.getTime() * 1000, 'UTC', 'medium')} UTC`
  if (typeof value === 'bigint') return value.toLocaleString('en-US')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'number') return String(value)
  switch (suffixOf(column)) {
    case 'ratio':
      return formatShare(value)
    case 'ms':
      return formatMs(value)
    case 'usd':
      return Math.abs(value) >= 0.005 || value === 0 ? value.toFixed(2) : formatNumber(value)
    default:
      return formatNumber(value)
  }
}

function formatMs(value: number): string {
  const size = Math.abs(value)
  return size >= 99.95 ? grouped(value) : value.toFixed(size >= 9.995 ? 1 : 2)
}

/** 0 to 1 in per cent, or a change; a small share is never shown as 0, nor one that is nearly whole as 100. */
export function formatShare(share: number): string {
  if (share < 0) return share > -0.0001 ? '>-0.01' : `-${formatShare(-share)}`
  const percent = share * 100
  if (percent === 0 || percent === 100) return `${percent}`
  if (percent < 0.01) return '<0.01'
  if (percent < 100 && percent >= 99.995) return '>99.99'
  if (percent > 100) return grouped(percent)
  return percent < 1 || percent > 99 ? percent.toFixed(2) : percent.toFixed(1)
}

/** A share that is an upper bound, with two digits: `0.46 %` of 0.00454, because it is never told as less than it is. */
export const percentAtMost = (share: number): string => `${atDigits(100 * share, 2, Math.ceil)} %`

/**
 * A positive number with so many significant digits.
 *
 * @param round `Math.floor` for what is claimed, `Math.ceil` for an upper bound
 */
export function atDigits(value: number, digits: number, round: (value: number) => number): number {
  if (value === 0) return 0
  const unit = 10 ** (Math.floor(Math.log10(value)) + 1 - digits)
  // What a division adds in the last digits of a double is no amount.
  return Number((round(Number((value / unit).toPrecision(12))) * unit).toPrecision(digits))
}

/** Seconds as text: 850 ms, 12.3 s, 4 min 05 s, 5 min, 2 h 07 min. */
export function formatDuration(seconds: number): string {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  const two = (value: number) => String(value).padStart(2, '0')
  const [large, small, units] =
    whole < 3600
      ? [Math.floor(whole / 60), whole % 60, ['min', 's']]
      : [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), ['h', 'min']]
  return `${large} ${units[0]}${small === 0 ? '' : ` ${two(small)} ${units[1]}`}`
}
