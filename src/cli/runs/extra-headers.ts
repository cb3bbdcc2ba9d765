import { headerIssue } from '../../contract/request.ts'
import type { ExtraHeader } from '../../probe/extra-headers.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { userError } from '../../user/user-error.ts'

/** A literal text of this length may be a key; a shorter one is a name or a number. */
const keyLength = 16
const variables = /\$\{(\w+)\}|\$(\w+)/g

/**
 * Parses headers `name: value`; `$NAME` in a value is an environment variable. A value with one is shown as it is written,
 * unless the text beside the variable may itself be a key. Secret values become secrets of the process, because a command may
 * print what it was given before it sends anything.
 *
 * @param option for errors, which never show a value
 * @throws UserError for an invalid header, or a variable that is not set
 */
export function extraHeaders(
  option: string,
  given: readonly string[],
  env: NodeJS.ProcessEnv,
): readonly ExtraHeader[] {
  return given.map((text) => {
    const colon = text.indexOf(':')
    if (colon < 1) {
      throw userError.usage(
        `${option}: expected name: value, as in 'x-portkey-api-key: $PORTKEY_API_KEY'; got no colon after a name.`,
      )
    }
    const name = text.slice(0, colon).trim().toLowerCase()
    const written = text.slice(colon + 1).trim()
    const value = written.replace(variables, (_, braced?: string, plain?: string) => {
      const variable = braced ?? plain ?? ''
      const found = env[variable]?.trim()
      if (found !== undefined && found !== '') return found
      throw userError.usage(`${option} ${name}: expected the variable ${variable}; it is not set.`)
    })
    const issue = headerIssue(name, value)
    if (issue !== null) throw userError.usage(`${option}: ${issue}`)
    const isFromVariable = value !== written
    const mayBeKey = written.replace(variables, '').length >= keyLength
    const isSecret = isFromVariable || mayBeKey
    if (isSecret) secrets.add(value)
    return {
      name,
      value,
      shown: isFromVariable && !mayBeKey ? written : `(value of ${option})`,
      isSecret,
    }
  })
}
