import { largest } from '../../user/extremes.ts'
import { isList, isObject, type Json, type JsonObject } from '../../user/json.ts'
import type { Evidence } from '../rule.ts'
import type { Exchange } from './exchange.ts'
import { usageReports } from './usage/reports.ts'

/** A request that the credits endpoint lists as charged. */
interface Listed {
  readonly id: string
  /** Unix milliseconds on the service's clock. */
  readonly atMs: number
}

/**
 * Ids that the credits endpoint lists for this key and time, but no attempt of the store has. Empty if none of them is ours, as
 * they are then ids of another kind; more than the attempts without an id, which may be any of them.
 */
export async function listedByOthers(
  evidence: Evidence,
  runId: string,
  account: string,
): Promise<readonly string[]> {
  const { store } = evidence
  const keys = await store.rows<{ key: string }>(
    `SELECT DISTINCT key_fp AS key FROM attempts
     WHERE run_id = $1 AND coalesce(account, key_fp, '') = $2 AND key_fp IS NOT NULL`,
    [runId, account],
  )
  const ofAccount = new Set(keys.map(({ key }) => key))
  const answers = (await usageReports(evidence))
    .map(({ exchange }) => exchange)
    .filter(({ row }) => row.runId === runId && ofAccount.has(row.keyFp ?? ''))
    .toSorted((a, b) => a.row.sentUs - b.row.sentUs)
  const [first, ...later] = answers
  if (first === undefined || later.length === 0) return []
  const before = listedBy(first)
  const latestMs = largest(before.map(({ atMs }) => atMs))
  const since = new Set(
    later.flatMap((answer) =>
      listedBy(answer).flatMap(({ id, atMs }) => (atMs > latestMs ? [id] : [])),
    ),
  )
  if (since.size === 0) return []
  const own = await store.rows<{ id: string | null }>(
    `SELECT response_id AS id FROM attempts JOIN runs USING (run_id)
     WHERE base_url = (SELECT base_url FROM runs WHERE run_id = $1) AND response_id IS NOT NULL`,
    [runId],
  )
  // `chatcmpl-4f2` and `msg_4f2` are responses to request 4f2.
  const ours = new Set(own.flatMap(({ id }) => [id!, id!.replace(/^[a-z]+[-_]/i, '')]))
  const others = [...since].filter((id) => !ours.has(id))
  if (others.length === since.size) return []
  const [nameless] = await store.rows<{ count: number }>(
    `SELECT count(*)::DOUBLE AS count FROM attempts
     WHERE run_id = $1 AND coalesce(account, key_fp, '') = $2 AND response_id IS NULL
       AND sent_us IS NOT NULL AND coalesce(closed_us, sent_us) >= $3::BIGINT`,
    [runId, account, first.row.sentUs],
  )
  return others.length > nameless!.count ? others : []
}

function listedBy({ responseJson }: Exchange): readonly Listed[] {
  return linesOf(responseJson).flatMap((line) => {
    const id = fieldOf(line, /^request_?id$/i)
    const atMs = Date.parse(String(fieldOf(line, /^(?:at|time|date|timestamp|created_at)$/i)))
    return typeof id === 'string' && !Number.isNaN(atMs) ? [{ id, atMs }] : []
  })
}

/** The objects of all lists in a body, at any depth. */
function linesOf(value: Json | undefined): readonly JsonObject[] {
  if (isList(value)) return value.filter(isObject)
  return isObject(value) ? Object.values(value).flatMap(linesOf) : []
}

const fieldOf = (line: JsonObject, pattern: RegExp): Json | undefined =>
  Object.entries(line).find(([name]) => pattern.test(name))?.[1]
