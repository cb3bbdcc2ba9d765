import { existsSync } from 'node:fs'
import { dirname, parse as parsePath, resolve } from 'node:path'
import { holdsItself } from '../user/holds-itself.ts'
import { isObject, type JsonObject } from '../user/json.ts'
import { lookup } from '../user/lookup.ts'
import { readTextOr } from '../user/read-text.ts'
import { UserError } from '../user/user-error.ts'
import { parseYaml } from '../user/yaml.ts'
import { baseUrlSays, shownBaseUrl } from './base-url.ts'
import type { Contract, FullContract } from './contract.ts'
import { contractForm } from './contract-form.ts'
import { defaultContract } from './default.ts'
import { camelKeys, merged, snake, valueAt, withoutNulls } from './mapping.ts'
import { splitPrices } from './split-prices.ts'
import { withTokenizerPaths, withTokenizers } from './tokenizer-paths.ts'

/** Names of whole contracts that a file may extend. */
const whole: Readonly<Record<string, FullContract>> = lookup({
  [defaultContract.name]: defaultContract,
})

/**
 * Reads a contract in YAML or JSON, with keys in snake case; the specification's own if absent or named. A promise that is left
 * out is not promised, unless the file says `extends: svc`: then models and their prices are joined by id, another list replaces the whole one, and null takes a promise back.
 *
 * @throws UserError with every issue
 */
export function loadContract(path?: string): Contract {
  if (path === undefined || path === defaultContract.name) return defaultContract
  return parseContract(readContractFile(path, path), path)
}

function readContractFile(path: string, shown: string): unknown {
  const unread = () =>
    new UserError('contract', `--contract: expected a readable YAML file; got "${shown}"`)
  const source = readTextOr(path, unread)
  try {
    return parseYaml(source)
  } catch (error) {
    throw new UserError(
      'contract',
      `${shown}: not YAML: ${error instanceof Error ? error.message : error}`,
    )
  }
}

/**
 * @param where the name of the file, for the error
 * @throws UserError with every issue
 */
export function parseContract(given: unknown, where: string): Contract {
  if (!isObject(given))
    throw new UserError('contract', `${where}: expected a mapping such as "name: my-service"`)
  if (holdsItself(given))
    throw new UserError(
      'contract',
      `${where}: a value is part of itself; write it out, or leave the alias out`,
    )
  const { base, own } = extended(given, where, [])
  const { rest, prices } = splitPrices(own)
  // A file without a name has its own.
  const named = { ...base, name: parsePath(where).name }
  const parsed = contractForm().safeParse(withoutNulls(merged(named, camelKeys(rest))))
  const ofPrices = prices?.issues ?? []
  if (parsed.success && ofPrices.length === 0)
    return { ...parsed.data, ...(prices === null ? {} : { prices: prices.terms }) }
  const issues = (parsed.error?.issues ?? []).flatMap((issue) => {
    const path = issue.path.map((part) => snake(String(part))).join('.')
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map(
        (key) => `  ${[path, snake(key)].filter(Boolean).join('.')}: no such field`,
      )
    const value = valueAt(camelKeys(given), issue.path)
    // A wrong base URL may hold a password.
    const isUrl = issue.message === baseUrlSays && typeof value === 'string'
    const observed = JSON.stringify(isUrl ? shownBaseUrl(value) : value)
    const expected = issue.message.replace(/^Invalid input: expected ([^,]*).*/, '$1')
    return [`  ${path}: expected ${expected}${observed === undefined ? '' : `; got ${observed}`}`]
  })
  throw new UserError(
    'contract',
    `${where}: not a contract\n${[...issues, ...ofPrices].join('\n')}\ndocs/auditing.md describes contracts; contracts/ has an example.`,
  )
}

/**
 * What a contract's file says with all that it extends, as JSON that `loadContract` reads alike; `nameOf` names the files of
 * tokenizers beside it.
 */
export function contractText(path: string, nameOf: (tokenizer: string) => string): string {
  if (path === defaultContract.name) return `{ "extends": "${defaultContract.name}" }\n`
  const given = readContractFile(path, path)
  // What is no contract is refused with every issue.
  const { name } = parseContract(given, path)
  const { base, own } = extended(given as JsonObject, path, [])
  const extending = base === defaultContract ? { extends: defaultContract.name } : {}
  const named = withTokenizers(own, nameOf)
  return `${JSON.stringify({ ...extending, ...named, name }, null, 2)}\n`
}

/** What a file says with all that it extends (`none`, a whole contract, a file), merged field by field: models are joined by id, and another list replaces a list. */
function extended(
  given: JsonObject,
  where: string,
  files: readonly string[],
): { readonly base: Partial<FullContract>; readonly own: JsonObject } {
  const { extends: named, ...rest } = given
  const own = withTokenizerPaths(rest, dirname(where))
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
  if (!isObject(parent)) throw wrong(`"${named}" is no mapping`)
  const { base, own: theirs } = extended(parent, path, [...files, path])
  return { base, own: mergedFiles(theirs, own) }
}

function mergedFiles(theirs: JsonObject, own: JsonObject): JsonObject {
  const both = merged(theirs, own) as JsonObject
  if (!Array.isArray(theirs.models) || !Array.isArray(own.models)) return both
  const idOf = (model: unknown) => (isObject(model) ? model.id : undefined)
  /** The first of an id counts. */
  const byId = (models: readonly unknown[]) =>
    new Map([...models].reverse().map((model) => [idOf(model), model]))
  const [their, mine] = [byId(theirs.models), byId(own.models)]
  const added = own.models.filter((model) => !their.has(idOf(model)))
  const changed = theirs.models.map((model: unknown) => merged(model, mine.get(idOf(model))))
  return { ...both, models: [...changed, ...added] }
}

/** The same for the reference service, which must know every promise: else a UserError. */
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
  if (Array.isArray(full) && Array.isArray(given) && isObject(full[0]))
    return given.flatMap((each, at) => missingFields(each, full[0], `${path}.${at}`))
  if (!isObject(full) || !isObject(given)) return []
  return Object.keys(full).flatMap((key) =>
    missingFields(given[key], full[key], path === '' ? snake(key) : `${path}.${snake(key)}`),
  )
}
