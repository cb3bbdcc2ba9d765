/**
 * Grouped thousands and at most so many decimals, without zeros at their end: 1,234.5. It is what `Intl.NumberFormat` of
 * en-US gives, whose tables a short command would load for nothing else.
 */
export function grouped(value: number, most = 0, least = 0): string {
  const size = Math.abs(value)
  if (!(size < 1e12)) {
    return value.toLocaleString('en-US', {
      minimumFractionDigits: least,
      maximumFractionDigits: most,
    })
  }
  const rounded = size < 1e-6 ? 0 : Math.round(Number(`${size}e${most}`))
  const digits = String(rounded).padStart(most + 1, '0')
  const point = digits.length - most
  let end = digits.length
  while (end > point + least && digits[end - 1] === '0') end--
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return groupedText(
    `${sign}${digits.slice(0, point)}${end > point ? `.${digits.slice(point, end)}` : ''}`,
  )
}

/** A decimal text with grouped thousands: 1,234.5. */
export const groupedText = (decimal: string): string =>
  decimal.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','))

/** A whole number of things: `1 request`, `1,234 requests`; and what they do: `1 request costs`, `2 requests cost`. */
export function counted(n: number, noun: string, verb = ''): string {
  const isOne = n === 1
  const does = verb === '' ? '' : ` ${verb}${isOne ? 's' : ''}`
  return `${grouped(n)} ${noun}${isOne ? '' : 's'}${does}`
}
