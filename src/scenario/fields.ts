import { z } from 'zod'
import { durationUsOf, patterns, ratePerSOf, shareOf } from './quantity.ts'

/**
 * Fields of a scenario file. The `error` of each is a noun phrase for the expected value; `faults.ts`
 * makes a sentence of it.
 */

export const text = (what: string) => z.string({ error: what }).min(1, { error: what })

export const flag = () => z.boolean({ error: 'true or false' })

export const whole = (min: number, what = `a whole number from ${min}`) =>
  z.int({ error: what }).min(min, { error: what })

/** A number of things that are made before a run, so that it must end. */
export const counted = (
  max: number,
  what = `a whole number from 1 to ${max.toLocaleString('en-US')}`,
) => z.int({ error: what }).min(1, { error: what }).max(max, { error: what })

export const amount = (what: string) => z.number({ error: what }).positive({ error: what })

/** Money as a decimal, in a currency that the contract names. */
export const money = () =>
  z
    .union([z.number().positive(), z.string().regex(/^(?=.*[1-9])\d{1,15}(?:\.\d{1,18})?$/)], {
      error: 'an amount above 0, such as 0.50',
    })
    .transform((written) => String(written))

export const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `one of ${values.join(', ')}` })

export const list = <Item extends z.ZodType>(item: Item, what: string) =>
  z.array(item, { error: what })

export const map = <Value extends z.ZodType>(value: Value, what: string) =>
  z.record(z.string(), value, { error: what })

/**
 * An object of fields and their descriptions; a field without one does not compile. Unknown keys are
 * issues whose message lists the known keys.
 */
export const shape = <Fields extends Record<string, z.ZodType>>(
  descriptions: Readonly<Record<keyof Fields, string>>,
  what: string,
  fields: Fields,
) =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, field.describe(descriptions[name]!)]),
    ) as Fields,
    {
      error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(fields).join(',') : what),
    },
  )

export const either = <const Options extends readonly [z.ZodType, ...z.ZodType[]]>(
  options: Options,
  what: string,
) => z.union(options, { error: what })

/** Text with a unit, which becomes a number: microseconds, per second, or 0 to 1. */
function quantity(pattern: string, read: (text: string) => number | null, what: string) {
  return z
    .string({ error: what })
    .regex(new RegExp(pattern), { error: what })
    .transform((written) => read(written) ?? 0)
}

export const duration = () =>
  quantity(patterns.duration, durationUsOf, 'a duration such as 800ms, 30s or 5m')

export const rate = () => quantity(patterns.rate, ratePerSOf, 'a rate such as 20/s or 1200/min')

export const share = () => quantity(patterns.share, shareOf, 'a share such as 5% or 99.9%')
