import { type Window, windowUs } from '../../../contract/contract.ts'
import { balanceBrackets } from '../../../limits/balance.ts'
import type { LimitedRequest } from '../../../limits/limited-request.ts'
import { oncePerEvidence } from '../../evidence/once.ts'
import type { Evidence } from '../../rule.ts'
import { clockErrorUs } from '../../runs.ts'
import type { Witness } from '../../verdict.ts'
import {
  numberColumns,
  type RateEvent,
  RateEventRow,
  rateEventTable,
  wordColumns,
} from './rate-events.ts'

export type { RateEvent } from './rate-events.ts'

/** All requests by key, in order of start, on one clock for all audited runs. */
export interface RateHistory {
  readonly events: readonly RateEvent[]
  readonly byKey: ReadonlyMap<string, readonly RateEvent[]>
  /** Requests that may share a counter: keys of one account may (gap G-36). */
  readonly byAccount: ReadonlyMap<string, readonly RateEvent[]>
}

/**
 * The history of the audited runs.
 *
 * Attempts of several runs share one clock, by the wall time at which each run began. That clock runs at the service's
 * speed: a microsecond of a run scaled by 60 counts sixtyfold, so windows keep their length.
 */
export const historyOf = oncePerEvidence(load)

async function load({ store, runIds, contract }: Evidence): Promise<RateHistory> {
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
  const columns = await store.doubles(
    `WITH origin AS (SELECT min(started_at) AS t FROM runs WHERE list_contains($1::VARCHAR[], run_id)),
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
     SELECT
       ${numberColumns.map((name) => `${name}::DOUBLE`).join(', ')},
       ${wordColumns.map((name) => `${name}_word.code::DOUBLE`).join(', ')}
     FROM placed
     ${wordColumns.map((name) => `LEFT JOIN words ${name}_word ON placed.${name} = ${name}_word.word`).join('\n     ')}
     ORDER BY from_us, until_us, run_id, slot, retry`,
    [ids, JSON.stringify(words)],
  )
  const table = rateEventTable(columns, words, contract)
  const events = Array.from({ length: table.size }, (_, row) => new RateEventRow(table, row))
  const byAccount = Map.groupBy(events, ({ account }) => account)
  for (const ofAccount of byAccount.values()) {
    const { low, high } = balanceBrackets(ofAccount)
    ofAccount.forEach(({ row }, nth) => {
      table.balanceLow[row] = low[nth]!
      table.balanceHigh[row] = high[nth]!
    })
  }
  return { events, byKey: Map.groupBy(events, ({ key }) => key), byAccount }
}

export function witnessOf(event: LimitedRequest, shows: string): Witness {
  return { runId: event.runId, slot: event.slot, retry: event.retry, shows }
}

/** `60 or 20`, for sentences. */
export function anyOf(values: Iterable<number | string>): string {
  return [...new Set(values)].join(' or ')
}

/** Whether an event is so early in the record that unrecorded requests matter. */
export function recordBegan(
  events: readonly RateEvent[],
  event: RateEvent,
  window: Window,
): boolean {
  return event.fromUs - events[0]!.fromUs < 2 * windowUs[window]
}
