import { flagSql } from '../attempt/flags.ts'
import type { Contract } from '../contract/contract.ts'
import { defaultContract } from '../contract/default.ts'
import { formatsOnly } from '../contract/formats-only.ts'
import type { DeploymentProfile } from '../contract/profile.ts'
import type { Store } from '../store/session/open.ts'

/**
 * The contract for runs if none is given: svc's for a service known as svc, otherwise only the formats. A profile decides by the
 * contract that it names. Without one, all runs must be by svc's contract, and a run by it at the same address must show svc's credits
 * header, even with a value that is no number. A model's name proves nothing.
 */
export async function contractOfService(
  store: Pick<Store, 'rows'>,
  runIds: readonly string[],
  profile?: DeploymentProfile,
): Promise<Contract> {
  if (profile !== undefined)
    return profile.contract === defaultContract.name ? defaultContract : formatsOnly
  const ids = JSON.stringify(runIds)
  const [found] = await store.rows<{ areBySvc: boolean }>(
    `SELECT coalesce(bool_and(contract = $2), false) AS "areBySvc"
     FROM runs WHERE list_contains($1::VARCHAR[], run_id)`,
    [ids, defaultContract.name],
  )
  if (found?.areBySvc !== true) return formatsOnly
  const ofService = await store.rows<{ runId: string }>(
    `SELECT run_id AS "runId" FROM runs WHERE contract = $2 AND base_url IN (
       SELECT base_url FROM runs WHERE list_contains($1::VARCHAR[], run_id))`,
    [ids, defaultContract.name],
  )
  // The first row is enough: a join of runs and attempts would read them all.
  const shown = await store.rows(
    `SELECT 1 FROM attempts WHERE list_contains($1::VARCHAR[], run_id)
       AND (credits_remaining IS NOT NULL OR ${flagSql('malformedCredits')}) LIMIT 1`,
    [JSON.stringify(ofService.map(({ runId }) => runId))],
  )
  return shown.length > 0 ? defaultContract : formatsOnly
}
