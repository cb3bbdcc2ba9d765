/** `assay/contract`: what a service promises, and what a probe found of it. A function loads its code when it is first called. */
import type { Contract } from '../contract/contract.ts'
import type { DeploymentProfile } from '../contract/profile.ts'

export type { Contract } from '../contract/contract.ts'
export { defaultContract } from '../contract/default.ts'
export type { DeploymentProfile } from '../contract/profile.ts'

/**
 * Reads a contract, a YAML or JSON file. A promise that the file leaves out is not promised.
 *
 * @throws UserError with every issue
 * @example
 * const contract = await loadContract('contract.yaml')
 * console.log(contract.name)
 */
export async function loadContract(file: string): Promise<Contract> {
  return (await import('../contract/load.ts')).loadContract(file)
}

/**
 * Reads a profile that `assay probe` wrote.
 *
 * @throws UserError if it cannot be read, is not YAML, or is not a profile
 * @example
 * const profile = await loadProfile('profile.yaml')
 * console.log(profile.answers)
 */
export async function loadProfile(file: string): Promise<DeploymentProfile> {
  return (await import('../contract/load-profile.ts')).loadProfile(file)
}
