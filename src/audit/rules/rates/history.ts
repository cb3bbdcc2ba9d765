import { type LimitWindow, lengthUs } from '../../../contract/contract.ts'
import { oncePerEvidence } from '../../evidence/once.ts'
import { eachOrderedGroup } from '../../evidence/ordered-groups.ts'
import type { RowOrder } from '../../evidence/partition.ts'
import type { Evidence } from '../../rule.ts'
import { clockErrorUs } from '../../runs.ts'
import { type EventGroups, EventRecords } from './event-groups.ts'
import { numberColumns, type RateEvent, rateEventTable, wordColumns } from './rate-events.ts'

export type { RateEvent } from './rate-events.ts'

/** All requests, on one clock for all audited runs. */
export interface RateHistory {
  /** In order of start. */
  readonly events: Iterable<RateEvent>
  readonly byKey: EventGroups
  /** Requests that may share a counter: keys of one account may (gap G-36). */
  readonly byAccount: EventGroups
  /** Whether its requests are read from disk: what follows from all of them is then not kept. */
  readonly isOnDisk: boolean
}

/**
 * All attempts of the audited runs on one clock, by the wall time of each run's begin, at the service's speed: a microsecond of
 * a run scaled by 60 counts sixtyfold.
 */
export const historyOf = oncePerEvidence(load)

async function load(evidence: Evidence): Promise<RateHistory> {
  const { store, runIds, contract, columns: file } = evidence
  const ids = JSON.stringify(runIds)
  const words = (
    await store.rows<{ word: string }>(
      `SELECT DISTINCT word FROM (SELECT unnest([${wordColumns.join(', ')}]) AS word
         FROM (SELECT DISTINCT ${wordColumns.join(', ')} FROM attempts
               WHERE list_contains($1::VARCHAR[], run_id)))
       WHERE word IS NOT NULL`,
      [ids],
    )
  ).map(({ word }) => word)
  const records = new EventRecords(file)
  const query = {
    sql: placedSql,
    parameters: [ids, JSON.stringify(words)],
    orderSql: 'owner, from_us, until_us, run_id, slot, retry',
    orderOf: byStart(words),
  }
  await eachOrderedGroup(evidence, query, (_, columns) =>
    records.add(rateEventTable(columns, words, contract)),
  )
  return {
    events: records.inOrder(),
    byKey: records.byKey(),
    byAccount: records.byAccount(),
    isOnDisk: file !== undefined,
  }
}

/** The number of the account, then the columns of a table of events. */
const placedSql = `WITH origin AS (SELECT min(started_at) AS t FROM runs WHERE list_contains($1::VARCHAR[], run_id)),
       words AS (SELECT unnest(from_json($2, '["VARCHAR"]')) AS word, unnest(range(len(from_json($2, '["VARCHAR"]')))) AS code),
       timed AS (SELECT attempts.*, time_scale, ended_us, ${clockErrorUs} AS error_us,
           date_diff('microsecond', origin.t, started_at) AS origin_us
         FROM attempts JOIN runs USING (run_id), origin
         WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL AND key_fp IS NOT NULL),
       placed AS (SELECT *,
           (origin_us + sent_us - error_us) * time_scale AS from_us,
           (origin_us + coalesce(headers_us, closed_us, ended_us, sent_us) + error_us) * time_scale AS until_us,
           (origin_us + coalesce(closed_us, headers_us, ended_us, sent_us) + error_us) * time_scale AS over_us
         FROM timed)
     SELECT coalesce(account_word.code, key_fp_word.code)::DOUBLE AS owner,
       ${numberColumns.map((name) => `${name}::DOUBLE`).join(', ')},
       ${wordColumns.map((name) => `${name}_word.code::DOUBLE`).join(', ')}
     FROM placed
     ${wordColumns.map((name) => `LEFT JOIN words ${name}_word ON placed.${name} = ${name}_word.word`).join('\n     ')}`

/** The order of the events of an account. */
const byStart =
  (words: readonly string[]): RowOrder =>
  (columns) => {
    const of = (name: (typeof numberColumns)[number] | (typeof wordColumns)[number]) =>
      columns[[...numberColumns, ...wordColumns].indexOf(name)]!
    const [from, until, run] = [of('from_us'), of('until_us'), of('run_id')]
    const [slot, retry] = [of('slot'), of('retry')]
    const byRun = (a: number, b: number) =>
      run[a] === run[b] ? 0 : Buffer.compare(wordAt(a), wordAt(b))
    const wordAt = (row: number) => Buffer.from(words[run[row]!]!)
    return (a, b) =>
      from[a]! - from[b]! ||
      until[a]! - until[b]! ||
      byRun(a, b) ||
      slot[a]! - slot[b]! ||
      retry[a]! - retry[b]!
  }

export { witnessAt as witnessOf } from '../../verdict.ts'

/** `60 or 20`, for sentences. */
export const anyOf = (values: Iterable<number | string>): string =>
  [...new Set(values)].join(' or ')

/** Whether an event is so early in the record that unrecorded requests matter. */
export function recordBegan(
  events: readonly RateEvent[],
  event: RateEvent,
  window: LimitWindow,
): boolean {
  return event.fromUs - events[0]!.fromUs < 2 * lengthUs(window)
}
