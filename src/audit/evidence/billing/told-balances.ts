import { remainingOf } from '../../../credits/said.ts'
import { readPackedBodies } from '../../../store/attempts/packed-bodies.ts'
import { isObject, jsonOf } from '../../../user/json.ts'
import type { PricedEvidence } from './price-table.ts'

/** A balance that the body of an answer of the credits endpoint tells. */
interface ToldBalance {
  readonly slot: number
  readonly retry: number
  readonly balance: number
}

/** The balances that a run was told without a header: whole numbers that are named as what remains. */
export async function toldBalances(
  { store }: PricedEvidence,
  runId: string,
): Promise<readonly ToldBalance[]> {
  const rows = await store.rows<{
    slot: number
    retry: number
    body: string | null
    packedAt: number | null
  }>(
    `SELECT slot::DOUBLE AS slot, retry, body, packed_at AS "packedAt"
     FROM bodies JOIN attempts USING (run_id, slot, retry)
     WHERE run_id = $1 AND endpoint = 'credits' AND credits_remaining IS NULL`,
    [runId],
  )
  const packed = readPackedBodies(
    store.path,
    rows.map(({ packedAt }) => packedAt),
  )
  return rows.flatMap(({ slot, retry, body }, at) => {
    const told = jsonOf(body ?? packed[at] ?? '')
    const balance = isObject(told) ? remainingOf(told) : null
    return balance !== null && Number.isSafeInteger(balance) ? [{ slot, retry, balance }] : []
  })
}
