import type { Outcome } from '../../attempt/outcome.ts'
import { type Window, windowUs } from '../../contract/contract.ts'
import type { Endpoint } from '../../contract/request.ts'
import { type Arrival, decisionOf } from '../../limits/arrival.ts'
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

/** Columns of attempts that hold words; they travel as codes into one list. */
const wordColumns = [
  'run_id',
  'key_fp',
  'account',
  'endpoint',
  'model',
  'outcome',
  'error_code',
  'error_type',
] as const
type WordColumn = (typeof wordColumns)[number]

/** Columns that are numbers, in the order of the query. */
const numberColumns = [
  'slot',
  'retry',
  'status',
  'credits_remaining',
  'rate_limit',
  'rate_remaining',
  'rate_reset',
  'retry_after',
  'date_s',
  'flags',
] as const
type NumberColumn = (typeof numberColumns)[number]

/** Rows as columns of doubles: a million attempts as objects of strings would not fit. */
async function load({ store, runIds, contract }: Evidence): Promise<History> {
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
       timed AS (SELECT attempts.*, time_scale, ended_us,
           date_diff('microsecond', origin.t, started_at) AS origin_us
         FROM attempts JOIN runs USING (run_id), origin
         WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL AND key_fp IS NOT NULL)
     SELECT
       ((origin_us + sent_us) * time_scale)::DOUBLE AS from_us,
       ((origin_us + coalesce(headers_us, closed_us, ended_us, sent_us)) * time_scale)::DOUBLE AS until_us,
       ((origin_us + coalesce(closed_us, headers_us, ended_us, sent_us)) * time_scale)::DOUBLE,
       ${numberColumns.map((name) => `${name}::DOUBLE`).join(', ')},
       ${wordColumns.map((name) => `${name}_word.code::DOUBLE`).join(', ')}
     FROM timed
     ${wordColumns.map((name) => `LEFT JOIN words ${name}_word ON timed.${name} = ${name}_word.word`).join('\n     ')}
     ORDER BY from_us, until_us`,
    [ids, JSON.stringify(words)],
  )
  const [fromUs, untilUs, closedUs, ...rest] = columns
  const numberOf = (name: NumberColumn, at: number): number | null => {
    const value = rest[numberColumns.indexOf(name)]![at]!
    return Number.isNaN(value) ? null : value
  }
  const wordOf = (name: WordColumn, at: number): string | null => {
    const code = rest[numberColumns.length + wordColumns.indexOf(name)]![at]!
    return Number.isNaN(code) ? null : words[code]!
  }
  const prices = new Map(contract.models.map(({ id, costCredits }) => [id, costCredits]))
  const highest = Math.max(1, ...prices.values())
  const sightings = Array.from({ length: fromUs!.length }, (_, at): Mutable<Sighting> => {
    const endpoint = wordOf('endpoint', at) as Endpoint
    const status = numberOf('status', at)
    const decision = decisionOf(status, endpoint)
    const charged = decision === 'admitted' || decision === 'unknown'
    const key = wordOf('key_fp', at)!
    return {
      runId: wordOf('run_id', at)!,
      slot: numberOf('slot', at)!,
      retry: numberOf('retry', at)!,
      key,
      account: wordOf('account', at) ?? key,
      endpoint,
      decision,
      status,
      fromUs: fromUs![at]!,
      untilUs: untilUs![at]!,
      closedUs: closedUs![at]!,
      costCredits:
        charged && isGeneration(endpoint) ? (prices.get(wordOf('model', at) ?? '') ?? highest) : 0,
      credits: numberOf('credits_remaining', at),
      limit: numberOf('rate_limit', at),
      remaining: numberOf('rate_remaining', at),
      reset: numberOf('rate_reset', at),
      dateS: numberOf('date_s', at),
      retryAfterS: numberOf('retry_after', at),
      outcome: wordOf('outcome', at) as Outcome,
      errorCode: wordOf('error_code', at),
      errorType: wordOf('error_type', at),
      flags: numberOf('flags', at)!,
      balance: unknownBalance,
    }
  })
  const byAccount = Map.groupBy(sightings, ({ account }) => account)
  for (const ofAccount of byAccount.values()) {
    balanceBrackets(ofAccount).forEach((bracket, nth) => {
      ofAccount[nth]!.balance = bracket
    })
  }
  return { sightings, byKey: Map.groupBy(sightings, ({ key }) => key), byAccount }
}

const unknownBalance: Bracket = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY }

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] }

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
