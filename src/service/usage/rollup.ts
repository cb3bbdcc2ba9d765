import type { Credits } from '../../contract/contract.ts'
import type { Database } from '../ledger/database.ts'

/** Usage as sums, never averages, so that buckets add up to larger ones. */
export interface Sums {
  readonly credits: Credits
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
}

export const noUsage: Sums = { credits: 0, requests: 0, promptTokens: 0, completionTokens: 0 }

export function plus(a: Sums, b: Sums): Sums {
  return {
    credits: a.credits + b.credits,
    requests: a.requests + b.requests,
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
  }
}

/** Usage of one key and model in a quarter of an hour. */
export interface Quarter extends Sums {
  readonly startUs: number
  readonly model: string
  /** Null for charges without a key. */
  readonly keyId: number | null
}

/** The offset of every time zone in use is a multiple of this. */
const quarterUs = 15 * 60e6

/**
 * Usage by quarter of an hour in UTC, the smallest buckets that hours and days of any zone need. A
 * refund is deducted from the quarter of its charge, so that only successes are left. A read that
 * costs a credit (G-17) does not count as a request, because it has no tokens to average.
 */
export class Rollups {
  readonly #statement
  readonly #kept = new Map<number, { lastEntry: number; readonly quarters: Map<string, Quarter> }>()
  readonly #keep: boolean

  /** @param keep whether entries are final, so that only new ones are read */
  constructor({ sql }: Database, keep: boolean) {
    this.#keep = keep
    this.#statement = sql.prepare(
      `SELECT booked_us - booked_us % ${quarterUs} AS start_us, model, key_id, max(id) AS last_entry,
         -sum(credits) AS credits,
         sum(CASE WHEN endpoint IN ('models', 'credits') THEN 0 WHEN kind = 'charge' THEN 1 ELSE -1 END)
           AS requests,
         sum(CASE kind WHEN 'charge' THEN prompt_tokens ELSE -prompt_tokens END) AS prompt,
         sum(CASE kind WHEN 'charge' THEN completion_tokens ELSE -completion_tokens END) AS completion
       FROM (SELECT *, min(at_us) OVER (PARTITION BY coalesce(request_id, id)) AS booked_us
             FROM entries WHERE account_id = ? AND id > ? AND kind IN ('charge', 'refund'))
       GROUP BY start_us, model, key_id ORDER BY start_us, model, key_id`,
    )
  }

  /** In order of time. */
  of(accountId: number): readonly Quarter[] {
    const kept = this.#keep ? this.#kept.get(accountId) : undefined
    const rollup = kept ?? { lastEntry: 0, quarters: new Map<string, Quarter>() }
    for (const row of this.#statement.all(accountId, rollup.lastEntry)) {
      const startUs = Number(row.start_us)
      const model = String(row.model ?? '')
      const keyId = row.key_id === null ? null : Number(row.key_id)
      const name = `${startUs} ${keyId} ${model}`
      const added = {
        credits: Number(row.credits),
        requests: Number(row.requests),
        promptTokens: Number(row.prompt),
        completionTokens: Number(row.completion),
      }
      const sums = plus(rollup.quarters.get(name) ?? noUsage, added)
      rollup.quarters.set(name, { startUs, model, keyId, ...sums })
      rollup.lastEntry = Math.max(rollup.lastEntry, Number(row.last_entry))
    }
    if (this.#keep) this.#kept.set(accountId, rollup)
    return [...rollup.quarters.values()]
  }
}
