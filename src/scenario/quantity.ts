import { type Limit, limitLengths } from '../measure/limit.ts'
import { dayUs, hourUs } from '../user/durations.ts'
import { lookup } from '../user/lookup.ts'

/** Parses quantities such as `800ms`, `20/s` and `50%`; null for any other text. */

const timeUnitsUs: Readonly<Record<string, number>> = lookup({
  us: 1,
  ms: 1e3,
  s: 1e6,
  min: 60e6,
  m: 60e6,
  h: hourUs,
  d: dayUs,
})

const number = String.raw`\d+(?:\.\d+)?`
const durationPattern = `^(?:${number}(?:us|ms|s|min|m|h|d))+$`
const ratePattern = `^${number}/(?:s|min|m|h|d)$`
const sharePattern = `^${number}%$`

/** Highest rate, over all shards: times of a plan are whole microseconds. */
export const mostPerS = 1e8

const limitTerm = `(?:${number}(?:us|ms|s|min|m|h|d))+(?:/(?:${Object.keys(limitLengths).join('|')}))?`
const limitPattern = String.raw`^${limitTerm}(?:\s*\+\s*${limitTerm})*$`

export const patterns = {
  duration: durationPattern,
  rate: ratePattern,
  share: sharePattern,
  limit: limitPattern,
}
export const limitForm = 'a time such as 800ms, 300ms + 0.2ms/input_token or 5s + 30ms/output_token'

/** `1m30s` is 90,000,000 microseconds. */
export function durationUsOf(text: string): number | null {
  const us = new RegExp(durationPattern).test(text) ? Math.round(sumUs(text)) : Infinity
  return Number.isFinite(us) ? us : null
}

function sumUs(text: string): number {
  let sum = 0
  for (const [, count, unit] of text.matchAll(new RegExp(`(${number})(us|ms|min|s|m|h|d)`, 'g'))) {
    sum += Number(count) * timeUnitsUs[unit!]!
  }
  return sum
}

/** `300ms + 0.2ms/input_token` is 300,000 microseconds, and 200 more for each token of the prompt. */
export function limitOf(text: string): Limit | null {
  if (!new RegExp(limitPattern).test(text)) return null
  const limit = { us: 0, usPerInputToken: 0, usPerOutputToken: 0 }
  for (const term of text.split('+')) {
    const [time, length] = term.trim().split('/') as [string, keyof typeof limitLengths | undefined]
    const written = sumUs(time)
    // Less than a thousandth of a microsecond is noise of the sum.
    const us = length === undefined ? Math.round(written) : Number(written.toFixed(3))
    // What is so small that nothing is left of it was not meant.
    if (!Number.isFinite(us) || (us === 0 && written > 0)) return null
    limit[length === undefined ? 'us' : limitLengths[length].field] += us
  }
  return limit.usPerInputToken === 0 && limit.usPerOutputToken === 0 ? limit.us : limit
}

/** `1200/min` is 20 per second. */
export function ratePerSOf(text: string): number | null {
  if (!new RegExp(ratePattern).test(text)) return null
  const [count, unit] = text.split('/') as [string, string]
  return (Number(count) * 1e6) / timeUnitsUs[unit]!
}

/** `50%` is 0.5. */
export const shareOf = (text: string): number | null =>
  new RegExp(sharePattern).test(text) ? Number(`${text.slice(0, -1)}e-2`) : null
