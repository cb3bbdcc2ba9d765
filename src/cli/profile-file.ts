import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { type DeploymentProfile, parseDeploymentProfile } from '../contract/profile.ts'
import { UsageError } from './exit.ts'

/**
 * Reads a profile that `assay probe` wrote.
 *
 * @param option that named the file, for the error
 * @throws UsageError when it cannot be read, is no YAML or no profile
 */
export function readProfileFile(option: string, path: string): DeploymentProfile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw new UsageError(
      `${option}: ${path} cannot be read; expected a profile that assay probe wrote.`,
    )
  }
  let document: unknown
  try {
    document = parse(text)
  } catch (error) {
    throw new UsageError(`${path} is not YAML: ${String(error).split('\n')[0]}`)
  }
  return parseDeploymentProfile(document, path)
}
