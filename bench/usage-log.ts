import { openStore } from '../src/store/session/open.ts'

const formats = {
  parquet: 'FORMAT parquet',
  csv: 'FORMAT csv, HEADER true',
  jsonl: 'FORMAT json',
}

export interface UsageLog {
  readonly file: string
  readonly format: keyof typeof formats
  /** Events of the whole, in order, over 30 days from 15 October 2026. */
  readonly events: number
  /** Which of them this file holds; the end is not one of them. */
  readonly from?: number
  readonly to?: number
  readonly keys: number
  readonly accounts: number
  readonly models: number
}

export const firstUs = Date.UTC(2026, 9, 15) * 1000
export const dayUs = 86_400e6

/** Usage as `assay export usage` writes it. The same each time: every value is a hash of the row's number. */
export async function writeUsageLog(log: UsageLog): Promise<void> {
  const { from = 0, to = log.events } = log
  const pick = (salt: number, of: number) => `(hash(i * 16 + ${salt}) % ${of})`
  const gapUs = Math.floor((30 * dayUs) / log.events)
  const store = await openStore(':memory:')
  await store.execute(
    `SET memory_limit = '1500MB'; SET preserve_insertion_order = false;
     COPY (
       SELECT 'gateway' AS source, printf('req-%016x', hash(i)) AS id,
         (${firstUs} + i * ${gapUs} + ${pick(1, 60_000_000)})::BIGINT AS at_us,
         'model-' || ${pick(2, log.models)} AS model,
         CASE WHEN ${pick(3, 3)} = 0 THEN 'messages' ELSE 'chat' END AS endpoint,
         printf('%012x', ${pick(4, log.keys)}) AS key_fp,
         'account-' || ${pick(4, log.accounts)} AS account,
         CASE WHEN ${pick(5, 50)} = 0 THEN 'http_error' ELSE 'ok' END AS outcome,
         CASE WHEN ${pick(5, 50)} = 0 THEN 429 ELSE 200 END AS status, NULL AS error_code,
         CASE WHEN ${pick(5, 50)} = 0 THEN 0 ELSE (1 + ${pick(6, 7)}) / 8 END AS credits,
         ${pick(7, 4000)} AS prompt_tokens, ${pick(7, 4000)} // 2 AS cached_tokens,
         ${pick(8, 800)} AS completion_tokens,
         1 AS requests, NULL::BIGINT AS ttft_us, NULL::BIGINT AS latency_us
       FROM range(${from}, ${to}) AS t(i)
     ) TO '${log.file}' (${formats[log.format]})`,
  )
  store.close()
}
