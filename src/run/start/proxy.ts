import type { Scenario } from '../../scenario/scenario.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { userError } from '../../user/user-error.ts'

/** The proxy in the variable that a scenario names; null if it names none. Its user and password are secrets from now on. */
export function proxyOf({ proxyEnv }: Scenario): string | null {
  if (proxyEnv === null) return null
  const proxy = process.env[proxyEnv]?.trim() ?? ''
  const summary = `The proxy comes from the variable ${proxyEnv}, which holds`
  const remedy = 'Set it to one, such as http://user:password@127.0.0.1:3128.'
  if (!URL.canParse(proxy)) throw userError.run(`${summary} no URL. ${remedy}`)
  const { protocol, username, password } = new URL(proxy)
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw userError.run(`${summary} no http or https URL. ${remedy}`)
  }
  try {
    for (const part of [username, password]) {
      decodeURIComponent(part)
      secrets.addPassword(part)
    }
  } catch {
    throw userError.run(
      `${summary} a user or password with % before something else than two hex digits; a % itself is %25. ${remedy}`,
    )
  }
  return proxy
}
