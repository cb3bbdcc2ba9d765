import type { AttemptRow } from '../../src/attempt/columns.ts'
import type { BodyRow, TemplateRow } from '../../src/attempt/evidence.ts'
import { inFlight } from './in-flight.ts'

/** A request of an account: when, what it costs, and whether its header shows the balance. */
export interface Asked {
  readonly fromS: number
  readonly toS: number
  readonly cost: number
  readonly showsBalance?: boolean
  readonly row?: Partial<AttemptRow>
}

/** Something that moves the balance without a request: a payment, an expiry, a transfer. */
export interface Moved {
  readonly atS: number
  readonly by: number
}

/** A page of the balance, as JSON: what remains, and what was used. */
export interface Paged {
  readonly atS: number
  readonly page: true
}

/** A plain read of the balance in its header. */
export interface ReadAt {
  readonly readS: number
}

type Event = Asked | Moved | Paged | ReadAt

const spans = (event: Event): readonly [number, number] =>
  'cost' in event
    ? [event.fromS, event.toS]
    : 'readS' in event
      ? [event.readS, event.readS + 0.1]
      : 'page' in event
        ? [event.atS, event.atS + 0.1]
        : [event.atS, event.atS]

/**
 * Plays an account: each request is charged at its end, after its header or page was written for those that were there before.
 *
 * @param balanceOf what a worker or a region shows, where there are several: by the number of the request
 */
export function madeAccount(
  begins: number,
  events: readonly Event[],
  shown: (charged: readonly number[], balance: number, nth: number) => number = (_, balance) =>
    balance,
): {
  readonly rows: readonly AttemptRow[]
  readonly bodies: readonly BodyRow[]
  readonly templates: readonly TemplateRow[]
} {
  const rows: AttemptRow[] = []
  const bodies: BodyRow[] = []
  const inTurn = events.toSorted((a, b) => spans(a)[1] - spans(b)[1])
  const charged: number[] = []
  let [balance, used, count] = [begins, 0, 0]
  for (const [nth, event] of inTurn.entries()) {
    const slot = rows.length
    const [fromS, toS] = spans(event)
    if ('by' in event) {
      balance += event.by
      continue
    }
    if ('cost' in event) {
      balance -= event.cost
      used += event.cost
      if (event.row?.outcome === undefined) count++
      charged[nth] = event.cost
      const value = event.showsBalance === false ? null : shown(charged, balance, nth)
      rows.push(inFlight(slot, fromS, toS, value, event.row ?? {}))
      continue
    }
    const value = shown(charged, balance, nth)
    const asked = { endpoint: 'credits', model: null, template: 1 } as const
    rows.push(inFlight(slot, fromS, toS, 'page' in event ? null : value, asked))
    if ('page' in event)
      bodies.push({
        ...{ runId: 'a', slot, retry: 0, headers: '', truncated: false },
        body: JSON.stringify({ remaining: value, consumed: used, requests: count }),
      })
  }
  const template = {
    ...{ runId: 'a', template: 1, step: 's', method: 'GET', path: '/user/credits' },
    ...{ headers: '{}', body: null, maxTokens: null, n: null, promptHash: null },
  }
  return { rows, bodies, templates: [template] }
}

export const readAt = (readS: number): ReadAt => ({ readS })
export const pageAt = (atS: number): Paged => ({ atS, page: true })
/** So many requests of a credit in flight together, from a second on. */
export const burst = (fromS: number, count: number, cost = 1): readonly Asked[] =>
  Array.from({ length: count }, (_, nth) => ({
    ...{ fromS: fromS + nth * 0.05, toS: fromS + 1 + nth * 0.05, cost },
  }))
/** Requests one after the other, two seconds each. */
export const oneByOne = (
  fromS: number,
  count: number,
  more: Partial<Asked> = {},
): readonly Asked[] =>
  Array.from({ length: count }, (_, nth) => ({
    ...{ fromS: fromS + 2 * nth, toS: fromS + 2 * nth + 1, cost: 1, ...more },
  }))
