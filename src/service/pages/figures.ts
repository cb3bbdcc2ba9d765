/** Formats figures for people. */

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const oneDecimal = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

export const count = (value: number): string => whole.format(value)

/** One decimal, or a dash if nothing was measured. */
export const average = (value: number | null): string =>
  value === null ? '–' : oneDecimal.format(value)

export const price = (cents: number): string => dollars.format(cents / 100)

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`

const days = new Map<string, Intl.DateTimeFormat>()
const moments = new Map<string, Intl.DateTimeFormat>()

/** 20 Nov 2026, in a time zone. */
export function day(atUs: number, timeZone = 'UTC'): string {
  let format = days.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium' })
    days.set(timeZone, format)
  }
  return format.format(atUs / 1000)
}

/** 20 Nov 2026, 13:05:09, in a time zone. */
export function moment(atUs: number, timeZone = 'UTC'): string {
  let format = moments.get(timeZone)
  if (format === undefined) {
    const style = { dateStyle: 'medium', timeStyle: 'medium' } as const
    format = new Intl.DateTimeFormat('en-GB', { timeZone, ...style })
    moments.set(timeZone, format)
  }
  return format.format(atUs / 1000)
}
