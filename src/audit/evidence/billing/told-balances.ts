import { remainingBeside, remainingOf } from '../../../credits/said.ts'
import { readPackedBodies } from '../../../store/attempts/packed-bodies.ts'
import { isObject, type JsonObject, jsonOf } from '../../../user/json.ts'
import { decodeEvents } from '../events.ts'
import type { PricedEvidence } from './price-table.ts'

/** A balance that the body of an answer tells. */
interface ToldBalance {
  readonly slot: number
  readonly retry: number
  readonly balance: number
}

/** Bodies of so many slots are in memory at once. */
const slotsAtOnce = 20_000

/**
 * SQL: every page of the credits, and each generation whose body may show a balance beside its text. Of those, bodies that are packed
 * for their length are not read.
 */
const mayTell = `run_id = $1 AND credits_remaining IS NULL
  AND (endpoint = 'credits' OR regexp_matches(body, '"[a-z_]*(?:remaining|balance|left)[a-z_]*"\\s*:', 'i'))`

/** The balances that a run was told without a header: whole numbers. */
export async function toldBalances(
  { store }: PricedEvidence,
  runId: string,
): Promise<readonly ToldBalance[]> {
  const [slots] = await store.rows<{ first: number | null; last: number }>(
    `SELECT min(slot)::DOUBLE AS first, max(slot)::DOUBLE AS last
     FROM bodies JOIN attempts USING (run_id, slot, retry) WHERE ${mayTell}`,
    [runId],
  )
  const told: ToldBalance[] = []
  for (let from = slots!.first ?? Number.NaN; from <= slots!.last; from += slotsAtOnce) {
    const rows = await store.rows<{
      slot: number
      retry: number
      isPage: boolean
      body: string | null
      packedAt: number | null
    }>(
      `SELECT slot::DOUBLE AS slot, retry, endpoint = 'credits' AS "isPage", body, packed_at AS "packedAt"
       FROM bodies JOIN attempts USING (run_id, slot, retry)
       WHERE ${mayTell} AND slot >= $2::DOUBLE AND slot < $3::DOUBLE`,
      [runId, from, from + slotsAtOnce],
    )
    const packed = readPackedBodies(
      store.path,
      rows.map(({ packedAt }) => packedAt),
    )
    for (const [at, { slot, retry, isPage, body }] of rows.entries()) {
      const balance = balanceIn(body ?? packed[at] ?? '', isPage ? remainingOf : remainingBeside)
      if (balance !== null && Number.isSafeInteger(balance)) told.push({ slot, retry, balance })
    }
  }
  return told
}

/** Of a document, or of the last event of a stream that tells one. */
function balanceIn(body: string, readFrom: (body: JsonObject) => number | null): number | null {
  const whole = jsonOf(body)
  const documents =
    whole === undefined ? decodeEvents(body).events.map(({ json }) => json) : [whole]
  const told = documents.map((each) => (isObject(each) ? readFrom(each) : null))
  return told.findLast((balance) => balance !== null) ?? null
}
