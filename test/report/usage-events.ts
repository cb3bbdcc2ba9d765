import { defaultContract } from '../../src/contract/default.ts'
import { mappedNames, tokenColumns } from '../../src/measure/usage/quantities.ts'
import type { UsageOptions } from '../../src/report/usage/shape.ts'
import type { Store } from '../../src/store/session/open.ts'
import type { MappedTokens } from '../../src/tokens/kinds.ts'

export interface EventChange extends Partial<Readonly<Record<MappedTokens, number | null>>> {
  readonly id?: string
  readonly source?: string
  readonly model?: string | null
  readonly endpoint?: string | null
  readonly keyFp?: string | null
  readonly account?: string | null
  readonly outcome?: string
  readonly status?: number | null
  readonly errorCode?: string | null
  readonly credits?: number | string | null
  /** Default: credits. */
  readonly unit?: string
  readonly requests?: number
  readonly latencyUs?: number | null
  /** Default: usage. */
  readonly type?: string
  /** As the store has them: a JSON object. */
  readonly tags?: string | null
  /** As the store has them: what rows of held credits say of these. */
  readonly terms?: string | null
}

/** Unix microseconds of a time in UTC; months from 1. */
export const utc = (...parts: [number, number, number, number?, number?]) =>
  Date.UTC(parts[0], parts[1] - 1, parts[2], parts[3] ?? 0, parts[4] ?? 0) * 1000

const columns = `source, id, at_us, ingested_us, import_no, model, endpoint, key_fp, account, outcome, status, error_code, credits, requests, ttft_us, latency_us, unit, type, tags, terms, ${tokenColumns}`

const usualTokens: Partial<Readonly<Record<MappedTokens, number>>> = {
  promptTokens: 10,
  completionTokens: 20,
}

let made = 0

/** Enters imported events at these times (Unix microseconds), each one credit by default. */
export async function enterEvents(
  store: Store,
  events: readonly (EventChange & { readonly atUs: number })[],
): Promise<void> {
  const value = (given: string | number | null | undefined, usual: string | number | null) => {
    const chosen = given === undefined ? usual : given
    return typeof chosen === 'string' ? `'${chosen.replaceAll("'", "''")}'` : String(chosen)
  }
  for (let from = 0; from < events.length; from += 500) {
    const rows = events
      .slice(from, from + 500)
      .map(
        (event) =>
          `(${[
            value(event.source, 'log'),
            value(event.id, `e${made++}`),
            String(event.atUs),
            '0',
            '1',
            value(event.model, 'svc-k2'),
            value(event.endpoint, 'chat'),
            value(event.keyFp, 'k1'),
            value(event.account, 'main'),
            value(event.outcome, 'ok'),
            value(event.status, 200),
            value(event.errorCode, null),
            value(event.credits, 1),
            value(event.requests, 1),
            'NULL',
            value(event.latencyUs, null),
            value(event.unit, 'credits'),
            value(event.type, 'usage'),
            value(event.tags, null),
            value(event.terms, null),
            ...mappedNames.map((name) => value(event[name], usualTokens[name] ?? null)),
          ].join(', ')})`,
      )
    await store.execute(`INSERT INTO usage_events (${columns}) VALUES ${rows.join(', ')}`)
  }
}

export function usageOptions(change: Partial<UsageOptions> = {}): UsageOptions {
  return {
    contract: defaultContract,
    fromUs: null,
    toUs: null,
    timezone: 'UTC',
    by: 'model',
    runIds: [],
    sources: [],
    nowUs: Date.UTC(2027, 0, 1) * 1000,
    seed: 1,
    grants: null,
    ...change,
  }
}
