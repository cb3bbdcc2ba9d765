import { existsSync } from 'node:fs'
import { z } from 'zod'
import { smallest } from '../user/extremes.ts'
import { entryOf, lookup } from '../user/lookup.ts'
import { isTimeZone } from '../user/time-zone.ts'
import { baseUrlSays, isBaseUrl } from './base-url.ts'
import {
  type Band,
  calendarLengths,
  creditsTopics,
  encodingAliases,
  encodingNames,
  type HeaderNames,
  isTokenizerFile,
  type LimitWindow,
  lengthPattern,
  lengthUs,
  namesOf,
  resetFormats,
  structuredNames,
  type TokenizerFile,
  weekdayNames,
  windows,
} from './contract.ts'
import { snake } from './mapping.ts'

const credits = z.int({ error: 'a whole number of credits' }).min(0, { error: '0 credits or more' })
const tokens = z.int({ error: 'a whole number of tokens' }).min(1, { error: '1 token or more' })
const share = z
  .union([z.number(), z.string().regex(/^\d+(?:\.\d+)?\s*%$/)], { error: 'a share such as 97%' })
  .transform((written) =>
    typeof written === 'number' ? written : Number.parseFloat(written) / 100,
  )
  .refine((value) => value > 0 && value <= 1, { error: 'a share above 0 and at most 100%' })
const count = z.int({ error: 'a whole number' }).min(1, { error: '1 or more' })
const ms = z.number({ error: 'milliseconds' }).min(0, { error: '0 ms or more' })
const text = z.string({ error: 'a text' }).min(1, { error: 'a text that is not empty' })
const flag = z.boolean({ error: 'true or false' })
const path = text.regex(/^\/[!-~]*$/, {
  error: 'a path that begins with /, of printable ASCII without spaces',
})
const fixedSays = 'true, or the day in UTC from which on it holds, such as 2026-03-14'
const headerName = text
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: 'the name of a header' })
  .transform((name) => name.toLowerCase())
const status = z.int({ error: 'an HTTP status' }).min(100).max(599, { error: 'an HTTP status' })
const authHeader = z.strictObject({ name: headerName, prefix: z.string({ error: 'a text' }) })
const range = z.strictObject({ min: z.number(), max: z.number() })

const headerNames = z
  .union([headerName, z.array(headerName).min(1)], { error: 'the name of a header, or a list' })
  .transform((names): HeaderNames => {
    const [first, ...others] = typeof names === 'string' ? [names] : names
    return [first!, ...others]
  })
const most = count.default(Number.POSITIVE_INFINITY)

const namedLengths: Readonly<Record<string, string>> = lookup({ second: '1s', week: '7d' })
const windowOf = (name: string) => (namedLengths[name] ?? name) as LimitWindow

/** Limits by window. A file may name a length as it likes, so an issue names it as the file does. */
const limits = z
  .object({ minute: most, hour: most, day: most })
  .catchall(count)
  .check(({ value, issues }) => {
    const promised = Object.keys(value).filter((name) => value[name] !== Number.POSITIVE_INFINITY)
    for (const [at, name] of promised.entries()) {
      const issue = (message: string) =>
        issues.push({ code: 'custom', path: [name], input: value[name], message })
      const window = windowOf(name)
      if (!windows.some((each) => each === window) && !lengthPattern.test(window)) {
        const instead = name === 'month' ? '; a month is a window of `calendar`' : ''
        issue(`minute, hour, day, or a length such as 10s, 5h or 7d${instead}`)
        continue
      }
      const same = promised
        .slice(0, at)
        .find((earlier) => lengthUs(windowOf(earlier)) === lengthUs(window))
      if (same !== undefined) issue(`another length than ${same} has`)
    }
  })
  .transform(
    (value): Band['requests'] =>
      Object.fromEntries(
        Object.entries(value).map(([name, requests]) => [windowOf(name), requests]),
      ) as Band['requests'],
  )

const calendarLimit = z
  .strictObject({
    each: z.enum(calendarLengths, { error: `one of ${calendarLengths.join(', ')}` }),
    requests: count,
    zone: text.refine(isTimeZone, { error: 'a time zone such as Europe/Berlin' }),
    begins: z
      .union([z.enum(weekdayNames), z.int().min(1).max(28)], {
        error: 'a day of the week such as sunday, or of the month from 1 to 28',
      })
      .exactOptional(),
    at: text
      .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: 'a time of the day such as "08:00"' })
      .exactOptional(),
  })
  .check(({ value: { each, begins, at }, issues }) => {
    const isOf = typeof begins === 'number' ? 'month' : 'week'
    if (begins !== undefined && each !== isOf)
      issues.push({
        ...{ code: 'custom', path: ['begins'], input: begins },
        message: `a ${isOf} alone to begin on ${begins}`,
      })
    if (at !== undefined && (each === 'minute' || each === 'hour'))
      issues.push({
        ...{ code: 'custom', path: ['at'], input: at },
        message: 'a day, a week or a month alone to begin at a time',
      })
  })

const isFileOfTokenizer = (given: unknown) =>
  typeof given === 'string' && isTokenizerFile(given) && existsSync(given)

/** A section whose fields may each be left out. */
const section = <Shape extends Readonly<Record<string, z.ZodType>>>(shape: Shape) =>
  z.strictObject(optional(shape)).exactOptional()

type Optional<Shape extends Readonly<Record<string, z.ZodType>>> = {
  [Field in keyof Shape]: z.ZodExactOptional<Shape[Field]>
}

function optional<Shape extends Readonly<Record<string, z.ZodType>>>(shape: Shape) {
  const fields = Object.entries(shape).map(([name, type]) => [name, type.exactOptional()])
  return Object.fromEntries(fields) as Optional<Shape>
}

/** The form of a contract's file without its prices, in camel case. It is made for the first file: most commands read none. */
export function contractForm() {
  form ??= makeForm()
  return form
}

let form: ReturnType<typeof makeForm> | undefined

const makeForm = () =>
  z
    .strictObject({
      name: text,
      https: flag.exactOptional(),
      crossOrigin: flag.exactOptional(),
      models: z
        .array(
          z.strictObject({
            id: text,
            aliases: z.array(text).exactOptional(),
            snapshots: z
              .union([z.literal('dated'), z.array(text)], { error: 'dated, or a list of names' })
              .exactOptional(),
            contextWindowTokens: tokens.exactOptional(),
            costCredits: credits.exactOptional(),
            listed: flag.default(true),
            reasoning: flag.default(false),
            tokenizer: z
              .preprocess(
                (given) =>
                  typeof given === 'string' ? (entryOf(encodingAliases, given) ?? given) : given,
                z.union([z.enum(encodingNames), z.custom<TokenizerFile>(isFileOfTokenizer)], {
                  error: `one of ${encodingNames.join(', ')}, or the path of a tokenizer.json that exists`,
                }),
              )
              .exactOptional(),
            templateTokens: z
              .int({ error: 'a whole number of tokens' })
              .min(0, { error: '0 tokens or more' })
              .exactOptional(),
            maxReasoningTokens: tokens.exactOptional(),
            cache: z
              .strictObject({
                leastTokens: tokens.exactOptional(),
                stepTokens: tokens.exactOptional(),
              })
              .exactOptional(),
            tools: z
              .strictObject({
                schema: share.exactOptional(),
                intact: z.literal(true, { error: 'true' }).exactOptional(),
              })
              .exactOptional(),
            fixed: z
              .union([z.literal(true), z.iso.date({ error: fixedSays })], { error: fixedSays })
              .exactOptional(),
            reference: z
              .strictObject({
                baseUrl: text.refine(isBaseUrl, { error: baseUrlSays }),
                model: text.exactOptional(),
              })
              .exactOptional(),
            servedTiers: z
              .array(z.strictObject({ tier: text, ttft: share.exactOptional() }))
              .exactOptional(),
          }),
        )
        .exactOptional(),
      bands: z
        .array(
          z.strictObject({
            name: text,
            minBalance: credits.default(0),
            maxBalance: credits.nullable().default(null),
            requests: limits.prefault({}),
            calendar: z.array(calendarLimit).exactOptional(),
            inFlight: count.exactOptional(),
          }),
        )
        .exactOptional(),
      paths: section({ chat: path, messages: path, models: path, credits: path }),
      headers: section({
        creditsRemaining: headerNames,
        rateLimit: headerNames,
        rateRemaining: headerNames,
        rateReset: headerNames,
        tokenLimit: headerNames,
        tokenRemaining: headerNames,
        tokenReset: headerNames,
      }),
      resetFormat: z
        .enum(resetFormats, { error: `one of ${resetFormats.join(', ')}` })
        .exactOptional(),
      auth: section({ chat: authHeader, messages: authHeader }),
      statuses: z.array(status).exactOptional(),
      chatErrors: z
        .array(z.strictObject({ code: text, type: text, status: status.nullable() }))
        .exactOptional(),
      messagesErrors: z
        .array(z.strictObject({ type: text, statuses: z.array(status).nullable() }))
        .exactOptional(),
      finishReasons: z.array(text).exactOptional(),
      responseFields: section({
        chat: z.array(text),
        model: z.array(text),
        credits: z.array(z.enum(creditsTopics, { error: `one of ${creditsTopics.join(', ')}` })),
      }),
      limits: section({
        maxInputTokens: tokens,
        maxOutputTokens: tokens,
        maxTotalTokens: tokens,
        maxTokensParameter: tokens,
        maxStopSequences: count,
      }),
      ranges: section({ chatTemperature: range, messagesTemperature: range, penalty: range }),
      defaults: section({ temperature: z.number(), topP: z.number(), maxTokens: tokens, n: count }),
      timeouts: section({ connectMs: ms, readMs: ms, streamMs: ms }),
      retry: section({ maxAttempts: count, baseDelayMs: ms, jitterMs: ms, maxDelayMs: ms }),
      grants: section({
        newAccount: credits,
        inviteRegistration: credits,
        inviteFirstPayment: credits,
      }),
      packages: z
        .array(
          z.strictObject({
            name: text,
            credits: credits.min(1, { error: '1 credit or more' }),
            priceUsdCents: z.int({ error: 'whole cents' }).min(0),
            listedUsdPerCredit: z.number({ error: 'US dollars' }).min(0),
            validMonths: count.nullable(),
          }),
        )
        .exactOptional(),
    })
    .check(({ value, issues }) => {
      const issue = (message: string, input: unknown, ...path: (string | number)[]) =>
        issues.push({ code: 'custom', message, path, input })
      const firstOf = new Map<string, number>()
      for (const [at, model] of (value.models ?? []).entries()) {
        for (const name of namesOf(model)) {
          const first = firstOf.get(name) ?? at
          firstOf.set(name, first)
          if (first !== at)
            issue(`another name than "${name}", which model ${first} has`, name, 'models', at, 'id')
        }
      }
      const bands = value.bands ?? []
      for (const [at, { minBalance, maxBalance }] of bands.entries()) {
        if (maxBalance === null) continue
        if (maxBalance < minBalance)
          issue(
            `${minBalance} or more, where the band begins`,
            maxBalance,
            'bands',
            at,
            'maxBalance',
          )
        const higher = bands.map((band) => band.minBalance).filter((min) => min > minBalance)
        const next = smallest(higher)
        if (higher.length > 0 && maxBalance < next - 1)
          issue(
            `${next - 1} or more, since the next band begins at ${next}`,
            maxBalance,
            ...['bands', at, 'maxBalance'],
          )
      }
      const headers = Object.entries(value.headers ?? {}).flatMap(([field, all]) =>
        (all ?? []).map((name) => ({ field, name })),
      )
      for (const [at, { field, name }] of headers.entries()) {
        // One structured field has the limit, the remaining number and the reset.
        if (structuredNames.includes(name)) continue
        const first = headers.slice(0, at).find((earlier) => earlier.name === name)
        if (first !== undefined)
          issue(`another header than ${snake(first.field)} has`, name, 'headers', field)
      }
    })
