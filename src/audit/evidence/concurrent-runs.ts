import type { Evidence } from '../rule.ts'

/** Other runs of the store that used the account during this run: by a key of this run, or by another key of its name. */
export async function concurrentRuns(
  { store }: Evidence,
  runId: string,
  account: string,
): Promise<readonly string[]> {
  const rows = await store.rows<{ other: string }>(
    `WITH spans AS (
       SELECT run_id, base_url, key_fp, coalesce(account, key_fp, '') AS account,
         min(started_at) + to_microseconds(min(sent_us)) AS began,
         min(started_at) + to_microseconds(max(coalesce(closed_us, headers_us, sent_us))) AS ended
       FROM attempts JOIN runs USING (run_id)
       WHERE sent_us IS NOT NULL AND key_fp IS NOT NULL GROUP BY ALL)
     SELECT DISTINCT other.run_id AS other
     FROM spans own JOIN spans other USING (base_url)
     WHERE own.run_id = $1 AND own.account = $2 AND other.run_id <> own.run_id
       AND (other.key_fp = own.key_fp OR other.account = own.account)
       AND other.began <= own.ended AND own.began <= other.ended
     ORDER BY 1`,
    [runId, account],
  )
  return rows.map(({ other }) => other)
}
