import { existsSync } from 'node:fs'
import { dirname, parse as parsePath, resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { readText } from '../user/read-text.ts'
import { UserError } from '../user/user-error.ts'
import {
  type Contract,
  type FullContract,
  type HeaderNames,
  namesOf,
  resetFormats,
  structuredNames,
} from './contract.ts'
import { defaultContract } from './default.ts'
import { splitPrices } from './split-prices.ts'

const credits = z.int({ error: 'a whole number of credits' }).min(0, { error: '0 credits or more' })
const tokens = z.int({ error: 'a whole number of tokens' }).min(1, { error: '1 token or more' })
const count = z.int({ error: 'a whole number' }).min(1, { error: '1 or more' })
const ms = z.number({ error: 'milliseconds' }).min(0, { error: '0 ms or more' })
const text = z.string({ error: 'a text' }).min(1, { error: 'a text that is not empty' })
const flag = z.boolean({ error: 'true or false' })
const path = text.regex(/^\//, { error: 'a path that begins with /' })
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

const schema = z
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
        }),
      )
      .exactOptional(),
    bands: z
      .array(
        z.strictObject({
          name: text,
          minBalance: credits.default(0),
          maxBalance: credits.nullable().default(null),
          requests: z.strictObject({ minute: most, hour: most, day: most }),
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
    responseFields: section({ chat: z.array(text), model: z.array(text) }),
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
    const names = (value.models ?? []).map(namesOf)
    for (const [at, own] of names.entries()) {
      for (const name of own) {
        const first = names.findIndex((others) => others.includes(name))
        if (first !== at)
          issue(`another name than "${name}", which model ${first} has`, name, 'models', at, 'id')
      }
    }
    const bands = value.bands ?? []
    for (const [at, { minBalance, maxBalance }] of bands.entries()) {
      if (maxBalance === null) continue
      if (maxBalance < minBalance)
        issue(`${minBalance} or more, where the band begins`, maxBalance, 'bands', at, 'maxBalance')
      const higher = bands.map((band) => band.minBalance).filter((min) => min > minBalance)
      const next = Math.min(...higher)
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

/** Names of whole contracts that a file may extend. */
const whole: Readonly<Record<string, FullContract>> = { [defaultContract.name]: defaultContract }

/**
 * Reads a contract. A promise that the file leaves out is not promised, unless the file says `extends: svc`: then it is
 * the specification's, a list replaces its whole list, and null takes a promise back. Keys are in snake case:
 * `cost_credits`.
 *
 * @param path YAML or JSON; absent, or the name of the default contract, for the specification's own
 * @throws UserError with every issue
 */
export function loadContract(path?: string): Contract {
  if (path === undefined || path === defaultContract.name) return defaultContract
  return parseContract(readContractFile(path, path), path)
}

/** The content of a YAML or JSON file. */
function readContractFile(path: string, shown: string): unknown {
  let source: string
  try {
    source = readText(path)
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError('contract', `--contract: expected a readable YAML file; got "${shown}"`)
  }
  try {
    return parseYaml(source, { logLevel: 'error' })
  } catch (error) {
    throw new UserError(
      'contract',
      `${shown}: not YAML: ${error instanceof Error ? error.message : error}`,
    )
  }
}

/**
 * @param given the content of a file, in snake case
 * @param where its name, for the error
 * @throws UserError with every issue
 */
export function parseContract(given: unknown, where: string): Contract {
  if (!isMapping(given)) {
    throw new UserError('contract', `${where}: expected a mapping such as "name: my-service"`)
  }
  const { base, own } = extended(given, where, [])
  const { rest, prices } = splitPrices(own)
  // A file without a name has its own.
  const named = { ...base, name: parsePath(where).name }
  const parsed = schema.safeParse(withoutNulls(merged(named, camelKeys(rest))))
  const ofPrices = prices?.issues ?? []
  if (parsed.success && ofPrices.length === 0)
    return { ...parsed.data, ...(prices === null ? {} : { prices: prices.terms }) }
  const issues = (parsed.error?.issues ?? []).flatMap((issue) => {
    const path = issue.path.map((part) => snake(String(part))).join('.')
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map(
        (key) => `  ${[path, snake(key)].filter(Boolean).join('.')}: no such field`,
      )
    }
    const observed = JSON.stringify(valueAt(camelKeys(given), issue.path))
    const expected = issue.message.replace(/^Invalid input: expected ([^,]*).*/, '$1')
    return [`  ${path}: expected ${expected}${observed === undefined ? '' : `; got ${observed}`}`]
  })
  throw new UserError(
    'contract',
    `${where}: not a contract\n${[...issues, ...ofPrices].join('\n')}\ndocs/auditing.md describes contracts; contracts/ has an example.`,
  )
}

/**
 * What a file says with all that it extends: `none`, the name of a whole contract, or another file, beside its own.
 * Files are merged as they are written: field by field, models by id, and a list replaces a list.
 */
function extended(
  given: Mapping,
  where: string,
  files: readonly string[],
): { readonly base: Partial<FullContract>; readonly own: Mapping } {
  const { extends: named, ...own } = given
  if (named === undefined || named === null || named === 'none') return { base: {}, own }
  const known = typeof named === 'string' ? whole[named] : undefined
  if (known !== undefined) return { base: known, own }
  const names = ['none', ...Object.keys(whole)].join(', ')
  const wrong = (why: string) =>
    new UserError('contract', `${where}: extends: expected ${names} or a contract's file; ${why}`)
  if (typeof named !== 'string') throw wrong(`got ${JSON.stringify(named)}`)
  const path = resolve(dirname(where), named)
  if (files.includes(path)) throw wrong(`"${named}" extends this file in turn`)
  if (!existsSync(path)) throw wrong(`got "${named}", and there is no such file`)
  const parent = readContractFile(path, named)
  if (!isMapping(parent)) throw wrong(`"${named}" is no mapping`)
  const { base, own: theirs } = extended(parent, path, [...files, path])
  return { base, own: mergedFiles(theirs, own) }
}

function mergedFiles(theirs: Mapping, own: Mapping): Mapping {
  const both = merged(theirs, own) as Mapping
  if (!Array.isArray(theirs.models) || !Array.isArray(own.models)) return both
  const idOf = (model: unknown) => (isMapping(model) ? model.id : undefined)
  const added = own.models.filter(
    (model) => !(theirs.models as readonly unknown[]).some((their) => idOf(their) === idOf(model)),
  )
  const changed = theirs.models.map((their: unknown) =>
    merged(
      their,
      (own.models as readonly unknown[]).find((model) => idOf(model) === idOf(their)),
    ),
  )
  return { ...both, models: [...changed, ...added] }
}

/**
 * The same for the reference service, which must know every promise.
 *
 * @throws UserError with every issue, or with the promises that are missing
 */
export function loadFullContract(path?: string): FullContract {
  const contract = loadContract(path)
  const missing = missingFields(contract, defaultContract, '')
  if (missing.length === 0) return contract as FullContract
  throw new UserError(
    'contract',
    `${path}: the reference service needs every promise, and ${missing.slice(0, 5).join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing. Add \`extends: ${defaultContract.name}\` to take what is left out from ${defaultContract.name}.`,
  )
}

/** Fields of the whole contract that another one lacks; a reset header and windows of a band may be absent. */
function missingFields(given: unknown, full: unknown, path: string): readonly string[] {
  if (given === undefined) return path === 'headers.rate_reset' ? [] : [path]
  if (Array.isArray(full) && Array.isArray(given) && isMapping(full[0])) {
    return given.flatMap((each, at) => missingFields(each, full[0], `${path}.${at}`))
  }
  if (!isMapping(full) || !isMapping(given)) return []
  return Object.keys(full).flatMap((key) =>
    missingFields(given[key], full[key], path === '' ? snake(key) : `${path}.${snake(key)}`),
  )
}

type Mapping = Readonly<Record<string, unknown>>

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function camelKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelKeys)
  if (!isMapping(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      camelKeys(inner),
    ]),
  )
}

function snake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Merges mappings field by field, and replaces everything else. */
function merged(base: unknown, over: unknown): unknown {
  if (!isMapping(base) || !isMapping(over)) return over === undefined ? base : over
  const fields = { ...base }
  for (const [key, value] of Object.entries(over)) {
    if (Object.hasOwn(Object.prototype, key)) continue
    fields[key] = merged(base[key], value)
  }
  return fields
}

/** Sections and their fields that are null are left out. Deeper, null is a value: a band without an end. */
function withoutNulls(value: unknown, depth = 2): unknown {
  if (!isMapping(value) || depth === 0) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      inner === null ? [] : [[key, withoutNulls(inner, depth - 1)]],
    ),
  )
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value
  for (const part of path) at = (at as Record<PropertyKey, unknown> | undefined)?.[part]
  return at
}
