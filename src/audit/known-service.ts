import type { Contract } from '../contract/contract.ts'
import { defaultContract } from '../contract/default.ts'
import { formatsOnly } from '../contract/formats-only.ts'
import type { DeploymentProfile } from '../contract/profile.ts'
import type { Store } from '../store/open.ts'

/**
 * The contract by which to judge runs if none is given: that of svc if the service is known as svc, otherwise only the
 * formats. It is known by a profile that names svc, or by runs by the contract svc with a balance in its credits
 * header, which is no part of either format. A model's name proves nothing: any service may serve it.
 *
 * @param runIds the audited runs
 */
export async function contractOfService(
  store: Pick<Store, 'rows'>,
  runIds: readonly string[],
  profile?: DeploymentProfile,
): Promise<Contract> {
  if (profile !== undefined) {
    return profile.contract === defaultContract.name ? defaultContract : formatsOnly
  }
  const [found] = await store.rows<{ isSvc: boolean }>(
    `SELECT coalesce(bool_and(contract = $2), false) AND coalesce(bool_or(EXISTS (
         SELECT 1 FROM attempts
         WHERE attempts.run_id = runs.run_id AND credits_remaining IS NOT NULL)), false) AS "isSvc"
     FROM runs WHERE list_contains($1::VARCHAR[], run_id)`,
    [JSON.stringify(runIds), defaultContract.name],
  )
  return found?.isSvc === true ? defaultContract : formatsOnly
}
