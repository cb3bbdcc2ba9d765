import { onceForEach } from '../../user/once.ts'

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

const days = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium' })
const momentFormat = onceForEach(
  (timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'medium' }),
)

/** 20 Nov 2026, in UTC. */
export const day = (atUs: number): string => days.format(atUs / 1000)

/** 20 Nov 2026, 13:05:09, in a time zone. */
export const moment = (atUs: number, timeZone = 'UTC'): string =>
  momentFormat(timeZone).format(atUs / 1000)
