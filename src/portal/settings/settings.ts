import { dirname, resolve } from 'node:path'
import { LineCounter } from 'yaml'
import { z } from 'zod'
import { quarterUs } from '../../measure/usage/quantities.ts'
import { mostTags, tagFilter, tagNameProblem } from '../../measure/usage/tags.ts'
import { parseMoment } from '../../measure/usage/zone.ts'
import { pageReaders } from '../../report/pages.ts'
import { burnOrders } from '../../report/usage/ledger.ts'
import { readText } from '../../user/read-text.ts'
import { isZoneName } from '../../user/time-zone.ts'
import { userError } from '../../user/user-error.ts'
import { yamlDocument } from '../../user/yaml.ts'
import { alerts, envName } from './alert-settings.ts'
import { issuesOf } from './issues.ts'

/** What a token, or the settings, let a customer see. Sums of requests and tokens are always shown. */
export const showable = ['credits', 'cost', 'keys', 'models', 'tags', 'requests', 'export'] as const
export type Shown = (typeof showable)[number]

const decimal = z.string().regex(/^\d+(\.\d+)?$/, 'expected a decimal as text, such as "0.0125"')
const zone = z.string().refine(isZoneName, 'expected an IANA name, such as Europe/Berlin')
const origin = z.string().refine((text) => {
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && url.origin === text && /^https?:$/.test(url.protocol)
}, 'expected an origin, such as https://app.example.com, without a path')
const color = z.string().regex(/^#[0-9a-f]{6}$/i, 'expected a colour such as #0b6bcb')

const currency = z.string().regex(/^[A-Z]{3}$/, 'expected an ISO 4217 code, such as EUR')
/** Sums are of quarters of an hour, so a time between two could not be kept to. */
const moment = z.string().refine((text) => {
  try {
    return parseMoment(text, 'UTC') % quarterUs === 0
  } catch {
    return false
  }
}, 'expected a date, or a time on a quarter of an hour, such as 2026-11-01 or 2026-11-01T09:30Z')
const credits = z.union([z.number().nonnegative(), decimal]).transform(String)

/** What is held: credits, or prepaid money. */
const heldShape = {
  credits: credits.optional(),
  amount: credits.optional(),
  unit: currency.optional(),
}
interface HeldGiven {
  readonly credits?: string | undefined
  readonly amount?: string | undefined
  readonly unit?: string | undefined
}
const isHeld = ({ credits, amount, unit }: HeldGiven) =>
  credits === undefined
    ? amount !== undefined && unit !== undefined
    : amount === undefined && unit === undefined
const expectedHeld = 'expected credits, or an amount and its unit, such as EUR'
/** @param given as `isHeld` has it */
const heldIn = ({ credits, amount, unit }: HeldGiven) => ({
  amount: credits ?? amount!,
  unit: unit ?? 'credits',
})

const grant = z
  .strictObject({
    name: z.string().min(1),
    ...heldShape,
    from: moment.nullable().default(null),
    expires: moment.nullable().default(null),
    priority: z.int().default(0),
    /** As the log has them; null for all use. */
    models: z
      .array(z.string().min(1))
      .min(1, 'expected at least one model; leave it out for all')
      .nullable()
      .default(null),
  })
  .refine(isHeld, expectedHeld)
  .transform(({ credits, amount, unit, ...terms }) => ({
    ...terms,
    ...heldIn({ credits, amount, unit }),
  }))

const balance = z
  .strictObject({ ...heldShape, asOf: moment })
  .refine(isHeld, expectedHeld)
  .transform(({ asOf, ...given }) => ({ asOf, ...heldIn(given) }))

export const budgetPeriods = ['day', 'week', 'month', 'year'] as const

/** Shares of a budget at which an alert is sent. */
const usualThresholds = [0.8, 1]

const budget = z
  .union([
    decimal.transform((amount) => ({
      amount,
      unit: 'credits',
      period: 'month' as const,
      thresholds: usualThresholds,
      stops: undefined,
      key: undefined,
      tag: undefined,
    })),
    z.strictObject({
      amount: decimal,
      unit: z.union([z.literal('credits'), currency]).default('credits'),
      period: z.enum(budgetPeriods).default('month'),
      thresholds: z.array(z.number().positive()).default(usualThresholds),
      /** Whether the service refuses requests once it is used up; absent if that is not said. */
      stops: z.boolean().optional(),
      /** Of the use of this key alone: its name in `keyNames`, or the first 12 digits of its fingerprint. */
      key: z.string().min(1).optional(),
      /** Of the use with this tag alone. */
      tag: z
        .string()
        .transform((text, context) => {
          const found = tagFilter(text)
          if (found !== null && found.value !== '') return found
          context.addIssue({
            code: 'custom',
            message: 'expected a name and a value, as team:search',
          })
          return z.NEVER
        })
        .optional(),
    }),
  ])
  .refine(({ amount }) => Number(amount) > 0, 'expected an amount above 0')
  .refine(({ key, tag }) => key === undefined || tag === undefined, 'expected key or tag, not both')

export const locales = ['en', 'de', 'fr', 'es', 'ja'] as const
export type Language = (typeof locales)[number]

/** The language of a locale; undefined for what is no locale, or of none of ours. */
export function languageOf(text: string): Language | undefined {
  try {
    const { language } = new Intl.Locale(text)
    return locales.find((each) => each === language)
  } catch {
    return undefined
  }
}

const locale = z
  .string()
  .refine(
    (text) => languageOf(text) !== undefined,
    `expected a locale of ${locales.join(', ')}, such as de-DE`,
  )

/** A mapping by foreign names, which are never names of properties: `__proto__` is one of them. */
const byName = <Value extends z.ZodType>(name: z.ZodType<string>, value: Value) =>
  z
    .preprocess(
      (given) =>
        typeof given === 'object' && given !== null && !Array.isArray(given)
          ? new Map(Object.entries(given))
          : given,
      z.map(name, value, { error: 'expected a mapping of names' }),
    )
    .default(() => new Map())

/** Own dimensions that customers see, by name. A log may have others, which are the operator's alone. */
const tags = z
  .array(
    z.string().superRefine((name, context) => {
      const problem = tagNameProblem(name)
      if (problem !== null) context.addIssue({ code: 'custom', message: problem })
    }),
  )
  .max(mostTags, `expected at most ${mostTags} names`)
  .refine((names) => new Set(names).size === names.length, 'expected each name once')

/** What an account may be watched for. */
const watched = {
  budget: z
    .union([budget.transform((one) => [one]), z.array(budget)], {
      error:
        'expected a decimal as text, such as "5000", or amount: and its terms, or a list of these',
    })
    .optional(),
  alertBelow: z.array(credits).optional(),
}

const accountShape = z.strictObject({
  label: z.string().min(1).max(100).optional(),
  timezone: zone.optional(),
  locale: locale.optional(),
  grants: z.array(grant).optional(),
  balance: balance.optional(),
  tags: tags.optional(),
  ...watched,
})

const shape = z.strictObject({
  product: z.string().min(1).max(100),
  logo: z.string().optional(),
  accent: color.default('#0b6bcb'),
  audience: z.enum(pageReaders).default('customer'),
  locale: locale.default('en'),
  currency: currency.nullable().default(null),
  credits: z.strictObject({ price: decimal.optional() }).default({}),
  burnOrder: z.enum(burnOrders).default('expiry'),
  timezone: zone.default('UTC'),
  shows: z.array(z.enum(showable)).default([...showable]),
  tags: tags.default([]),
  /** Months whose figures stay as a file of quarters has them. */
  closed: z
    .array(
      z.strictObject({
        month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'expected a month, such as 2026-10'),
        file: z.string().min(1),
      }),
    )
    .refine(
      (all) => new Set(all.map(({ month }) => month)).size === all.length,
      'expected each month once',
    )
    .default([]),
  words: byName(z.string(), z.string().max(300)),
  support: z
    .url({ protocol: /^https?$|^mailto$/ })
    .refine(
      (url) => !url.startsWith('mailto:') || /^mailto:[^#?]+@[^#?]+(\?[^#]*)?$/.test(url),
      'expected a mail address, such as mailto:help@example.com',
    )
    .optional(),
  origins: z.array(origin).default([]),
  tokens: z.discriminatedUnion('algorithm', [
    z.strictObject({ algorithm: z.literal('EdDSA'), publicKey: z.string() }),
    z.strictObject({ algorithm: z.literal('HS256'), secretEnv: envName }),
  ]),
  alerts: alerts.optional(),
  keyNames: byName(
    z.string().regex(/^[0-9a-f]{12}$/, 'expected the first 12 digits of a fingerprint'),
    z.string().min(1).max(60),
  ),
  /** Of each account that does not say it itself; with it, alerts are also of accounts that are not named. */
  everyAccount: z.strictObject(watched).optional(),
  accounts: byName(z.string().min(1), accountShape),
  revokedBefore: byName(z.string(), z.iso.datetime({ offset: true })),
})

export type AccountSettings = z.infer<typeof accountShape>
export type AccountBudget = NonNullable<AccountSettings['budget']>[number]

type Given = z.input<typeof shape>

/** Settings as they are written, in a file or in code: the keys are those of docs/usage-serve.md. */
export interface UsageSettings
  extends Omit<Given, 'accounts' | 'words' | 'keyNames' | 'revokedBefore'> {
  readonly words?: Readonly<Record<string, string>>
  readonly keyNames?: Readonly<Record<string, string>>
  readonly accounts?: Readonly<Record<string, z.input<typeof accountShape>>>
  readonly revokedBefore?: Readonly<Record<string, string>>
  /** Where paths start. Default: the working folder. */
  readonly folder?: string
}

/** Settings of the pages that customers see. */
export type Settings = z.infer<typeof shape> & {
  /** The folder of the file, from which its paths start. */
  readonly folder: string
}

export const closedFiles = ({ closed, folder }: Settings) =>
  closed.map(({ month, file }) => ({ month, path: resolve(folder, file) }))

/**
 * Reads the settings file (docs/usage-serve.md).
 *
 * @throws UserError with every issue, each with its line and column
 */
export function readSettings(path: string): Settings {
  let text: string
  try {
    text = readText(path)
  } catch {
    throw userError.usage(`--settings: ${path} cannot be read; docs/usage-serve.md has an example.`)
  }
  return { ...parseSettings(text, path), folder: dirname(resolve(path)) }
}

/** @throws UserError with every issue */
export function settingsFrom({ folder = '.', ...given }: UsageSettings): Settings {
  const parsed = shape.safeParse(given)
  if (parsed.success) return { ...parsed.data, folder: resolve(folder) }
  const { shown, more } = issuesOf(parsed.error)
  throw wrongSettings([
    ...shown.map(({ place, message }) => `${place.join('.') || 'settings'}: ${message}`),
    ...more,
  ])
}

const wrongSettings = (issues: readonly string[]) =>
  userError.usage(`These settings are wrong:\n${issues.map((each) => `  ${each}`).join('\n')}`)

/** Where a place is in a file, or the nearest one above it that is there. */
function offsetOf(document: ReturnType<typeof yamlDocument>, place: readonly string[]): number {
  for (let depth = place.length; depth >= 0; depth--) {
    const node = depth === 0 ? document.contents : document.getIn(place.slice(0, depth), true)
    if (node !== undefined) return (node as { range?: readonly number[] } | null)?.range?.[0] ?? 0
  }
  return 0
}

/** @throws UserError as `readSettings` does */
export function parseSettings(text: string, from: string): Omit<Settings, 'folder'> {
  const lines = new LineCounter()
  // Names of accounts and fingerprints of digits stay text.
  const document = yamlDocument(text, { lineCounter: lines, schema: 'core' })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${from}:${line}:${col}`
  }
  const issues = document.errors.map(
    (error) => `${at(error.pos[0])}: ${error.message.split('\n')[0]}`,
  )
  if (issues.length === 0) {
    const parsed = shape.safeParse(document.toJS())
    if (parsed.success) return parsed.data
    const { shown, more } = issuesOf(parsed.error)
    for (const { place, message } of shown) {
      issues.push(`${at(offsetOf(document, place))}: ${place.join('.') || 'the file'}: ${message}`)
    }
    for (const line of more) issues.push(line)
  }
  throw wrongSettings(issues)
}
