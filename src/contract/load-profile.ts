import { readTextOr } from '../user/read-text.ts'
import { UserError } from '../user/user-error.ts'
import { parseYaml } from '../user/yaml.ts'
import { type DeploymentProfile, parseDeploymentProfile } from './profile.ts'

/**
 * Reads a profile that `assay probe` wrote.
 *
 * @param option that named it, for the error
 * @throws UserError if it cannot be read, is not YAML, or is not a profile
 */
export function loadProfile(path: string, option = 'profile'): DeploymentProfile {
  const expected = 'expected a profile that assay probe wrote'
  const unread = () => new UserError('usage', `${option}: ${path} cannot be read; ${expected}.`)
  const text = readTextOr(path, unread)
  let document: unknown
  try {
    document = parseYaml(text)
  } catch (error) {
    throw new UserError('usage', `${path} is not YAML: ${String(error).split('\n')[0]}`)
  }
  return parseDeploymentProfile(document, path)
}
