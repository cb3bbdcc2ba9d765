import type { BalanceHistory } from '../src/audit/evidence/billing/history.ts'
import { type HistoryRow, historyOf } from '../test/audit/evidence/billing/made-history.ts'

export const simulatedFaults = [
  'none',
  'double charge',
  'skipped charge',
  'lost update',
  'double and given back',
] as const
export type SimulatedFault = (typeof simulatedFaults)[number]

export interface Simulation {
  readonly requests: number
  readonly concurrency: number
  readonly fault: SimulatedFault
  /**
   * Right at the charge, or read a moment after it; or less what is held: then a price shows as taken from
   * the call on, and a second charge only when the request completes.
   */
  readonly header: 'atomic' | 'snapshot' | 'held'
  /** Shares of requests whose client leaves. */
  readonly abortedShare?: number
  readonly timedOutShare?: number
  /** Which of those are charged all the same (gaps G-14, G-15). */
  readonly chargesLeft?: (typeof leavingPolicies)[number]
  /** Whether the balance is read before and after; true unless given. */
  readonly idleReads?: boolean
}

/**
 * What a service may charge of requests that their client left: aborted streams, timeouts, those that
 * were under way for long enough, those that it had finished when it noticed, or all, much later.
 */
export const leavingPolicies = ['none', 'all', 'streams', 'from', 'finished', 'delayed'] as const

interface Planned {
  readonly slot: number
  readonly callUs: number
  readonly chargeUs: number
  readonly readUs: number
  readonly endUs: number
  readonly costCredits: number
  readonly left: 'no' | 'aborted' | 'timed out'
}

/**
 * The traffic of a closed set of clients against one ledger, each request of 1 or 2 credits, with
 * at most one fault in the middle. What a correct service would show, or not.
 */
export function simulate(options: Simulation, random: () => number): BalanceHistory {
  return simulateStruck(options, random).history
}

/** The same, with the slot of the request that the fault struck, were there one. */
export function simulateStruck(
  options: Simulation,
  random: () => number,
): { readonly history: BalanceHistory; readonly struckSlot: number } {
  const planned = plan(options, random)
  const byCharge = [...planned].sort((a, b) => a.chargeUs - b.chargeUs)
  const victims = byCharge.filter(({ left }) => left === 'no')
  const struckRequest = victims[Math.floor(victims.length * (0.3 + 0.4 * random()))]
  const victim = struckRequest?.slot ?? -1
  const againUs = options.header === 'held' ? struckRequest?.endUs : undefined
  let isAgainDue = options.fault === 'double charge' && againUs !== undefined
  const start = options.requests * 3
  let balance = start
  let before = start
  /** Balance after each change, in the order of time: what a later reader would see. */
  const changes: { readonly atUs: number; readonly balance: number }[] = []
  const shown = new Map<number, number>()
  for (const request of byCharge) {
    if (request.left !== 'no' && !isCharged(request, options)) continue
    if (isAgainDue && request.chargeUs > againUs!) {
      balance -= struckRequest!.costCredits
      isAgainDue = false
    }
    const struck = request.slot === victim && options.fault !== 'none' && againUs === undefined
    let value = balance - request.costCredits
    balance = value
    if (struck && options.fault === 'double charge') balance -= request.costCredits
    if (struck && options.fault === 'double and given back') balance -= request.costCredits
    if (struck && options.fault === 'skipped charge') balance += request.costCredits
    // The read-modify-write that loses: it started from the balance before its neighbour's charge.
    if (struck && options.fault === 'lost update') balance = before - request.costCredits
    if (struck && options.fault === 'lost update') value = balance
    if (struck && options.fault === 'skipped charge') value = balance
    if (struck && options.fault === 'double charge') value = balance
    changes.push({ atUs: request.chargeUs, balance })
    if (struck && options.fault === 'double and given back') {
      value = balance
      const back = byCharge.find(({ chargeUs }) => chargeUs > request.chargeUs)
      shown.set(request.slot, value)
      if (back !== undefined) balance += request.costCredits
      changes.push({ atUs: request.chargeUs + 0.5, balance })
    }
    before = value + request.costCredits
    shown.set(request.slot, value)
  }
  if (options.header === 'snapshot') readLater(byCharge, changes, shown, start)
  const rows: HistoryRow[] = planned.map((request) => ({
    slot: request.slot,
    callUs: request.callUs,
    endUs: request.endUs,
    effect: request.left === 'no' ? 'charge' : 'ambiguous',
    costCredits: request.costCredits,
    streamed: request.left === 'aborted',
    contentEvents: request.left === 'aborted' ? 1 : 0,
    abandonment:
      request.left === 'timed out' ? 'timeout' : request.left === 'no' ? 'no' : 'aborted',
    ...(request.left === 'no' && { value: shown.get(request.slot)!, readUs: request.readUs }),
  }))
  const lastUs = Math.max(...rows.map((row) => row.endUs))
  if (options.idleReads !== false) {
    rows.push({ slot: -1, callUs: -20, endUs: -10, effect: 'read', costCredits: 0, value: start })
    rows.push({
      slot: options.requests,
      callUs: lastUs + 10,
      endUs: lastUs + 20,
      effect: 'read',
      costCredits: 0,
      value: balance,
    })
  }
  return { history: historyOf(rows), struckSlot: victim }
}

function isCharged(
  { left, callUs, endUs, chargeUs }: Planned,
  { chargesLeft = 'none' }: Simulation,
): boolean {
  switch (chargesLeft) {
    case 'none':
      return false
    case 'all':
    case 'delayed':
      return true
    case 'streams':
      return left === 'aborted'
    case 'from':
      return endUs - callUs > 2_000
    case 'finished':
      return chargeUs <= endUs + noticeUs
  }
}

/** How long the service takes to notice that a client has left. */
const noticeUs = 5
/** When a service that charges later does so. */
const delayUs = 60_000
/** How long its clients wait. */
const patienceUs = 9_000

/** Clients send one request after another, without thinking. */
function plan(options: Simulation, random: () => number): Planned[] {
  const { requests, concurrency, abortedShare = 0, timedOutShare = 0 } = options
  const isHeld = options.header === 'held'
  const freeUs = new Float64Array(concurrency)
  return Array.from({ length: requests }, (_, slot) => {
    let client = 0
    for (let at = 1; at < concurrency; at++) if (freeUs[at]! < freeUs[client]!) client = at
    const callUs = freeUs[client]! + 1 + Math.floor(random() * 200)
    const serviceUs = 1000 + Math.floor(random() * 4000)
    const draw = random()
    const left =
      draw < abortedShare ? 'aborted' : draw < abortedShare + timedOutShare ? 'timed out' : 'no'
    const endUs =
      left === 'no'
        ? callUs + serviceUs
        : left === 'aborted'
          ? callUs + Math.floor(serviceUs * (0.05 + 0.6 * random()))
          : callUs + patienceUs
    freeUs[client] = endUs
    // What is charged although its client left goes on until its end; what timed out hangs for longer.
    const goesOnUs = left === 'aborted' ? serviceUs : patienceUs + serviceUs
    const chargeUs =
      left === 'no'
        ? callUs + 10 + Math.floor(random() * (isHeld ? 30 : serviceUs - 20))
        : callUs + (options.chargesLeft === 'delayed' ? delayUs : isHeld ? 10 : goesOnUs)
    const readUs = chargeUs + Math.floor(random() * (endUs - chargeUs))
    return { slot, callUs, chargeUs, readUs, endUs, costCredits: random() < 0.3 ? 2 : 1, left }
  })
}

/** Each header shows the balance at its own reading instead of at the charge. */
function readLater(
  requests: readonly Planned[],
  changes: readonly { readonly atUs: number; readonly balance: number }[],
  shown: Map<number, number>,
  start: number,
): void {
  const byRead = [...requests].sort((a, b) => a.readUs - b.readUs)
  let at = 0
  let balance = start
  for (const { slot, readUs } of byRead) {
    for (; at < changes.length && changes[at]!.atUs <= readUs; at++) balance = changes[at]!.balance
    if (shown.has(slot)) shown.set(slot, balance)
  }
}
