import { z } from 'zod'
import { grouped } from '../user/grouped.ts'
import { lowerField } from './issues.ts'
import {
  durationUsOf,
  limitForm,
  limitOf,
  mostPerS,
  patterns,
  ratePerSOf,
  shareOf,
} from './quantity.ts'

/**
 * Fields of a scenario file. The `error` of each is a noun phrase for the expected value; `issues.ts`
 * makes a sentence of it.
 */

export const text = (what: string) => z.string({ error: what }).min(1, { error: what })

export const flag = () => z.boolean({ error: 'true or false' })

export const whole = (min: number, what = `a whole number from ${min}`) =>
  z.int({ error: what }).min(min, { error: what })

/** A number of things that are made before a run, so that it must end. */
export const counted = (max: number, what = `a whole number from 1 to ${grouped(max)}`) =>
  z.int({ error: what }).min(1, { error: what }).max(max, { error: what })

/** Sums of weights stay exact. */
const mostWeight = 1e9
const tooHeavy = 'a weight of at most 1,000,000,000'

export const weight = () =>
  z
    .number({ error: 'a weight of 0 or more' })
    .nonnegative({ error: 'a weight of 0 or more' })
    .max(mostWeight, { error: tooHeavy })

export const someWeight = () => amount('a weight above 0').max(mostWeight, { error: tooHeavy })

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

/** A field of an object, and the sentence that editors show for it. Its default is added to the sentence. */
type Field = readonly [form: z.ZodType, sentence: string]
type FormsOf<Fields extends Readonly<Record<string, Field>>> = {
  -readonly [Name in keyof Fields]: Fields[Name][0]
}

/**
 * An object of fields; one without a sentence does not compile. Unknown keys are issues whose message lists the
 * known keys.
 */
export const shape = <const Fields extends Readonly<Record<string, Field>>>(
  what: string,
  fields: Fields,
) =>
  z.strictObject(
    Object.fromEntries(
      Object.entries(fields).map(([name, [form, sentence]]) => [
        name,
        form.describe(`${sentence}${defaultOf(form)}`),
      ]),
    ) as FormsOf<Fields>,
    {
      error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(fields).join(',') : what),
    },
  )

/** ` Default 10,000.`; empty for a field without a default, or whose default is empty. */
function defaultOf(form: z.ZodType): string {
  if (!(form instanceof z.ZodDefault || form instanceof z.ZodPrefault)) return ''
  const value: unknown = form.def.defaultValue
  if (typeof value === 'number') return ` Default ${grouped(value, 3)}.`
  if (typeof value !== 'object') return ` Default ${String(value)}.`
  return Array.isArray(value) && value.length > 0 ? ` Default [${value.join(', ')}].` : ''
}

/** Checks that `high` is not below `low`; `issues.ts` adds the value of `low`. */
export const ordered =
  <Low extends string, High extends string>(low: Low, high: High) =>
  (fields: { readonly [Name in Low | High]?: unknown }, context: z.core.$RefinementCtx): void => {
    const [least, most] = [fields[low], fields[high]]
    if (typeof least !== 'number' || typeof most !== 'number' || least <= most) return
    const message = `${high} to be at least ${low}`
    context.addIssue({ code: 'custom', path: [high], message, params: { [lowerField]: low } })
  }

/** A range, both ends included. */
export const range = <Item extends z.ZodType>(item: Item, what = '') =>
  shape(what, { min: [item, 'The least.'], max: [item, 'The most.'] }).superRefine(
    ordered('min', 'max'),
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
    .transform(readBy(read, what))
}

/** A text of the right form may still be no number: too large, or so small that nothing is left of it. */
const readBy =
  <Read>(read: (text: string) => Read | null, what: string) =>
  (written: string, context: z.RefinementCtx<string>): Read => {
    const value = read(written)
    if (value !== null) return value
    context.addIssue({ code: 'custom', message: what })
    return z.NEVER
  }

export const duration = () =>
  quantity(patterns.duration, durationUsOf, 'a duration such as 800ms, 30s or 5m')

/** What a request may take, which may grow with its tokens. */
export const limit = () =>
  z
    .string({ error: limitForm })
    .regex(new RegExp(patterns.limit), { error: limitForm })
    .transform(readBy(limitOf, limitForm))

/** @param what names what needs a time above 0, such as `a timeout` */
export const someTime = (what: string) => {
  const error = `${what} above 0`
  return duration().refine((us) => us > 0, { error })
}

export const rate = () =>
  quantity(patterns.rate, ratePerSOf, 'a rate such as 20/s or 1200/min').refine(
    (perS) => perS <= mostPerS,
    { error: `at most ${mostPerS}/s, because times are whole microseconds` },
  )

export const share = () => quantity(patterns.share, shareOf, 'a share such as 5% or 99.9%')
