import type { Outcome } from '../../attempt/outcome.ts'
import { type Contract, type Window, windowUs } from '../../contract/contract.ts'
import type { Endpoint } from '../../contract/request.ts'
import { type Arrival, byStart, decisionOf } from '../../limits/arrival.ts'
import { type Bracket, balanceBrackets } from '../../limits/balance.ts'
import type { Evidence } from '../rule.ts'
import type { Witness } from '../verdict.ts'

/** An arrival with what is known of its account's balance at that moment. */
export interface Sighting extends Arrival {
  readonly balance: Bracket
  readonly outcome: Outcome
  readonly errorCode: string | null
  readonly errorType: string | null
  readonly flags: number
}

/** Everything that was sent with a key, by start, on one clock for all audited runs. */
export interface History {
  readonly sightings: readonly Sighting[]
  readonly byKey: ReadonlyMap<string, readonly Sighting[]>
  /** Keys of one account may share a counter (gap G-36): what may have been counted together. */
  readonly byAccount: ReadonlyMap<string, readonly Sighting[]>
}

interface Row {
  readonly run_id: string
  readonly slot: number
  readonly retry: number
  readonly key_fp: string
  readonly account: string
  readonly endpoint: Endpoint
  readonly model: string | null
  readonly outcome: Outcome
  readonly status: number | null
  readonly from_us: number
  readonly until_us: number
  readonly closed_us: number
  readonly credits_remaining: number | null
  readonly rate_limit: number | null
  readonly rate_remaining: number | null
  readonly rate_reset: number | null
  readonly retry_after: number | null
  readonly date_s: number | null
  readonly error_code: string | null
  readonly error_type: string | null
  readonly flags: number
}

const histories = new WeakMap<Evidence, Promise<History>>()

/**
 * The history of the audited runs, loaded once for all rules.
 *
 * Attempts of several runs stand on one clock by the wall time at which each run began, and that
 * clock runs at the service's speed: microseconds of a run that scaled time by 60 count sixtyfold,
 * so windows keep their length.
 */
export function historyOf(evidence: Evidence): Promise<History> {
  const known = histories.get(evidence)
  if (known !== undefined) return known
  const loading = load(evidence)
  histories.set(evidence, loading)
  return loading
}

async function load({ store, runIds, contract }: Evidence): Promise<History> {
  const rows = await store.rows<Row>(
    `WITH origin AS (SELECT min(started_at) AS t FROM runs WHERE list_contains($1::VARCHAR[], run_id))
     SELECT run_id, slot, retry, key_fp, coalesce(account, key_fp) AS account, endpoint, model,
       outcome, status,
       (date_diff('microsecond', origin.t, started_at) + sent_us) * time_scale AS from_us,
       (date_diff('microsecond', origin.t, started_at) + coalesce(headers_us, closed_us, ended_us, sent_us)) * time_scale AS until_us,
       (date_diff('microsecond', origin.t, started_at) + coalesce(closed_us, headers_us, ended_us, sent_us)) * time_scale AS closed_us,
       credits_remaining, rate_limit, rate_remaining, rate_reset, retry_after, date_s,
       error_code, error_type, flags
     FROM attempts JOIN runs USING (run_id), origin
     WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL AND key_fp IS NOT NULL`,
    [JSON.stringify(runIds)],
  )
  const arrivals = rows.map((row) => ({ row, arrival: arrivalOf(row, contract) }))
  arrivals.sort((a, b) => byStart(a.arrival, b.arrival))
  const sightings: Sighting[] = new Array(arrivals.length)
  const places = Map.groupBy(arrivals.keys(), (index) => arrivals[index]!.arrival.account)
  for (const indexes of places.values()) {
    const brackets = balanceBrackets(indexes.map((index) => arrivals[index]!.arrival))
    indexes.forEach((index, nth) => {
      const { row, arrival } = arrivals[index]!
      sightings[index] = {
        ...arrival,
        balance: brackets[nth]!,
        outcome: row.outcome,
        errorCode: row.error_code,
        errorType: row.error_type,
        flags: row.flags,
      }
    })
  }
  return {
    sightings,
    byKey: Map.groupBy(sightings, ({ key }) => key),
    byAccount: Map.groupBy(sightings, ({ account }) => account),
  }
}

function arrivalOf(row: Row, contract: Contract): Arrival {
  const decision = decisionOf(row.status, row.endpoint)
  const charged = decision === 'admitted' || decision === 'unknown'
  const price =
    contract.models.find((model) => model.id === row.model)?.costCredits ??
    Math.max(1, ...contract.models.map((model) => model.costCredits))
  return {
    runId: row.run_id,
    slot: row.slot,
    retry: row.retry,
    key: row.key_fp,
    account: row.account,
    endpoint: row.endpoint,
    decision,
    status: row.status,
    fromUs: row.from_us,
    untilUs: row.until_us,
    closedUs: row.closed_us,
    costCredits: charged && isGeneration(row.endpoint) ? price : 0,
    credits: row.credits_remaining,
    limit: row.rate_limit,
    remaining: row.rate_remaining,
    reset: row.rate_reset,
    dateS: row.date_s,
    retryAfterS: row.retry_after,
  }
}

function isGeneration(endpoint: Endpoint): boolean {
  return endpoint === 'chat' || endpoint === 'messages'
}

export function witnessOf(sighting: Arrival, shows: string): Witness {
  return { runId: sighting.runId, slot: sighting.slot, retry: sighting.retry, shows }
}

/** `60 or 20`, for sets in sentences. */
export function anyOf(values: Iterable<number | string>): string {
  return [...new Set(values)].join(' or ')
}

/** Whether a sighting stands so near the beginning of the record that what came before matters. */
export function recordBegan(
  sightings: readonly Sighting[],
  sighting: Sighting,
  window: Window,
): boolean {
  return sighting.fromUs - sightings[0]!.fromUs < 2 * windowUs[window]
}
