import { decimalText, isZero, type Rational } from '../money/rational.ts'
import { lookup } from '../user/lookup.ts'
import type { Calculation } from './calculate.ts'

const words: Readonly<Record<string, string>> = lookup({
  input_uncached: 'input tokens',
  cache_read: 'tokens read from a cache',
  cache_write: 'tokens written to a cache',
  cache_write_1h: 'tokens written to a cache for an hour',
  output_visible: 'output tokens',
  reasoning: 'reasoning tokens',
  request: 'request',
  input_audio: 'audio tokens in',
  output_audio: 'audio tokens out',
})

/** `14 input tokens x 4 USD per million + 5 output tokens x 20 USD per million`. */
export function formulaText({ lines, steps }: Calculation, unit: string): string {
  const parts = lines
    .filter(({ count }) => !isZero(count))
    .map(
      ({ name, count, price, per }) =>
        `${decimalText(count)} ${words[name] ?? name} x ${decimalText(price)} ${unit}${perText(per)}`,
    )
  const more = steps.map(({ summary }) => summary)
  return [parts.length === 0 ? '0' : parts.join(' + '), ...more].join(', ')
}

function perText(per: Rational): string {
  const text = decimalText(per)
  if (text === '1') return ''
  if (text === '1000000') return ' per million'
  return text === '1000' ? ' per thousand' : ` per ${text}`
}
