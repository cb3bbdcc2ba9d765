import { isHeaderValue } from '../../contract/request.ts'
import type { KeySource, Scenario } from '../../scenario/scenario.ts'
import { entryOf } from '../../user/lookup.ts'
import { readTextOr } from '../../user/read-text.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { userError } from '../../user/user-error.ts'

/** A key with its secret, kept in memory only. */
export interface ResolvedKey {
  readonly name: string
  readonly account: string
  readonly weight: number
  readonly key: string
}

/** The key for a service without keys, because the header may not be empty. */
export const noKey = 'none'

/**
 * Reads the keys of a scenario.
 *
 * @param given keys by name, which replace their source
 * @throws UserError that names the variable or file, never its content
 */
export function resolveKeys(
  scenario: Scenario,
  given: Readonly<Record<string, string>> = {},
  environment: NodeJS.ProcessEnv = process.env,
): readonly ResolvedKey[] {
  return scenario.keys.map((source) => {
    const key = (entryOf(given, source.name) ?? readKey(source, environment)).trim()
    if (key === '') {
      throw userError.run(`The key ${source.name} is empty: ${whereOf(source)} has no text.`)
    }
    if (!isHeaderValue(key)) {
      throw userError.run(
        `The key ${source.name} is not valid in a header: expected printable ASCII on one line in ${whereOf(source)}; got something else, which is not shown here. Put one API key there, and nothing more.`,
      )
    }
    secrets.add(key)
    return { name: source.name, account: source.account, weight: source.weight, key }
  })
}

function readKey(key: KeySource, environment: NodeJS.ProcessEnv): string {
  if ('env' in key.source) {
    const value = environment[key.source.env]
    if (value !== undefined) return value
    if (key.source.optional === true) return noKey
    throw userError.run(
      `The key ${key.name} comes from the variable ${key.source.env}, which is not set. Set it to an API key of the service.`,
    )
  }
  const unread = `The key ${key.name} comes from the file ${key.source.file}, which cannot be read. Put an API key of the service there.`
  return readTextOr(key.source.file, () => userError.run(unread))
}

const whereOf = (key: KeySource): string =>
  'env' in key.source ? `the variable ${key.source.env}` : `the file ${key.source.file}`
