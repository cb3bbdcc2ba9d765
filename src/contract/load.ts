import { readFileSync } from 'node:fs'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { UserError } from '../user/user-error.ts'
import type { Contract } from './contract.ts'
import { defaultContract } from './default.ts'

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

const schema = z
  .strictObject({
    name: text,
    models: z
      .array(
        z.strictObject({
          id: text,
          contextWindowTokens: tokens,
          costCredits: credits,
          listed: flag.default(true),
          reasoning: flag.default(false),
        }),
      )
      .min(1, { error: 'at least one model' }),
    bands: z.array(
      z.strictObject({
        name: text,
        minBalance: credits,
        maxBalance: credits.nullable(),
        requests: z.strictObject({ minute: count, hour: count, day: count }),
      }),
    ),
    paths: z.strictObject({ chat: path, messages: path, models: path, credits: path }),
    headers: z.strictObject({
      creditsRemaining: headerName,
      rateLimit: headerName,
      rateRemaining: headerName,
      rateReset: headerName.nullable(),
    }),
    auth: z.strictObject({ chat: authHeader, messages: authHeader }),
    statuses: z.array(status).min(1, { error: 'at least one status' }),
    chatErrors: z.array(z.strictObject({ code: text, type: text, status: status.nullable() })),
    messagesErrors: z.array(z.strictObject({ type: text, statuses: z.array(status).nullable() })),
    finishReasons: z.array(text).min(1, { error: 'at least one reason' }),
    limits: z.strictObject({
      maxInputTokens: tokens,
      maxOutputTokens: tokens,
      maxTotalTokens: tokens,
      maxTokensParameter: tokens,
      maxStopSequences: count,
    }),
    ranges: z.strictObject({
      chatTemperature: range,
      messagesTemperature: range,
      penalty: range,
    }),
    defaults: z.strictObject({
      temperature: z.number(),
      topP: z.number(),
      maxTokens: tokens,
      n: count,
    }),
    timeouts: z.strictObject({ connectMs: ms, readMs: ms, streamMs: ms }),
    retry: z.strictObject({
      maxAttempts: count,
      baseDelayMs: ms,
      jitterMs: ms,
      maxDelayMs: ms,
    }),
    grants: z.strictObject({
      newAccount: credits,
      inviteRegistration: credits,
      inviteFirstPayment: credits,
    }),
    packages: z.array(
      z.strictObject({
        name: text,
        credits: credits.min(1, { error: '1 credit or more' }),
        priceUsdCents: z.int({ error: 'whole cents' }).min(0),
        listedUsdPerCredit: z.number({ error: 'US dollars' }).min(0),
        validMonths: count.nullable(),
      }),
    ),
  })
  .check(({ value, issues }) => {
    const fault = (message: string, input: unknown, ...path: (string | number)[]) =>
      issues.push({ code: 'custom', message, path, input })
    const ids = value.models.map((model) => model.id)
    for (const [at, id] of ids.entries()) {
      const first = ids.indexOf(id)
      if (first !== at)
        fault(`another name than "${id}", which model ${first} has`, id, 'models', at, 'id')
    }
    for (const [at, { minBalance, maxBalance }] of value.bands.entries()) {
      if (maxBalance === null) continue
      if (maxBalance < minBalance)
        fault(`${minBalance} or more, where the band begins`, maxBalance, 'bands', at, 'maxBalance')
      const higher = value.bands.map((band) => band.minBalance).filter((min) => min > minBalance)
      const next = Math.min(...higher)
      if (higher.length > 0 && maxBalance < next - 1)
        fault(
          `${next - 1} or more, since the next band begins at ${next}`,
          maxBalance,
          ...['bands', at, 'maxBalance'],
        )
    }
    const headers = Object.entries(value.headers)
    for (const [at, [field, name]] of headers.entries()) {
      const first = headers.slice(0, at).find(([, earlier]) => earlier === name)
      if (name !== null && first !== undefined)
        fault(`another header than ${snake(first[0])} has`, name, 'headers', field)
    }
  })

/**
 * Reads a contract. Missing fields take the value of the specification; a list replaces the whole list. Keys are in
 * snake case: `cost_credits`.
 *
 * @param path YAML or JSON; absent, or the name of the default contract, for the specification
 * @throws UserError naming every fault
 */
export function loadContract(path?: string): Contract {
  if (path === undefined || path === defaultContract.name) return defaultContract
  let source: string
  try {
    source = readFileSync(path, 'utf8')
  } catch {
    throw new UserError('contract', `--contract: expected a readable YAML file; got "${path}"`)
  }
  let given: unknown
  try {
    given = parseYaml(source, { logLevel: 'error' })
  } catch (error) {
    throw new UserError(
      'contract',
      `${path}: not YAML: ${error instanceof Error ? error.message : error}`,
    )
  }
  return parseContract(given, path)
}

/**
 * @param given the content of a file, with keys in snake case
 * @param where names the file in errors
 */
export function parseContract(given: unknown, where: string): Contract {
  if (!isMapping(given)) {
    throw new UserError('contract', `${where}: expected a mapping such as "name: my-service"`)
  }
  const parsed = schema.safeParse(merged(defaultContract, camelKeys(given)))
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.flatMap((issue) => {
    const path = issue.path.map((part) => snake(String(part))).join('.')
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map(
        (key) => `  ${[path, snake(key)].filter(Boolean).join('.')}: no such field`,
      )
    }
    const came = JSON.stringify(valueAt(camelKeys(given), issue.path))
    const expected = issue.message.replace(/^Invalid input: expected ([^,]*).*/, '$1')
    return [`  ${path}: expected ${expected}${came === undefined ? '' : `; got ${came}`}`]
  })
  throw new UserError(
    'contract',
    `${where}: not a contract\n${faults.join('\n')}\ndocs/auditing.md describes contracts; contracts/ has an example.`,
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

/** Merges mappings field by field and replaces everything else. */
function merged(base: unknown, over: unknown): unknown {
  if (!isMapping(base) || !isMapping(over)) return over === undefined ? base : over
  const fields = { ...base }
  for (const [key, value] of Object.entries(over)) {
    if (Object.hasOwn(Object.prototype, key)) continue
    fields[key] = merged(base[key], value)
  }
  return fields
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value
  for (const part of path) at = (at as Record<PropertyKey, unknown> | undefined)?.[part]
  return at
}
