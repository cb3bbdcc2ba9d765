import { expect, test } from 'vitest'
import { readBalance } from '../../../../../src/audit/evidence/billing/balance-reading.ts'
import type { History } from '../../../../../src/audit/evidence/billing/history.ts'
import { placesOfStep } from '../../../../../src/audit/evidence/billing/step.ts'
import { suspectsOf } from '../../../../../src/audit/evidence/billing/suspects.ts'
import { seeded } from '../histories.ts'
import { type HistoryRow, historyOf } from '../made-history.ts'

const policies = ['none', 'all', 'content', 'from', 'delayed', 'held'] as const
interface Service {
  /** For aborts and for timeouts, each streamed and plain. */
  readonly policies: readonly (typeof policies)[number][]
  /** How much later it charges or returns credits, if its policy does. */
  readonly laterUs: number
  /** Whether it holds the price while a request runs. */
  readonly holds: boolean
  /** Which request it charges twice: none, a success, or an aborted request that it charges. */
  readonly twice: 'none' | 'success' | 'abort'
  /** Aborts come within this time after 150 us, or else at any time of the response. */
  readonly earlyUs?: number
  /** Whether streams never hang. */
  readonly plainHangs?: boolean
}

const [oneWayUs, deadlineUs, restUs] = [5, 9_000, 12_000]

/** Waves of requests, 64 in flight, with settled reads between; some are abandoned, some hang. */
function waves(service: Service, random: () => number, count = 5, perWave = 600) {
  const { earlyUs, plainHangs = false } = service
  const pick = (below: number) => Math.floor(random() * below)
  type Change = { readonly atUs: number; readonly credits: number; readonly shownTo?: number }
  const changes: Change[] = []
  const rows: (HistoryRow & { value?: number })[] = []
  const read = (callUs: number) => {
    changes.push({ atUs: callUs + oneWayUs, credits: 0, shownTo: rows.length })
    rows.push({
      slot: rows.length,
      callUs,
      endUs: callUs + 2 * oneWayUs,
      effect: 'read',
      costCredits: 0,
    })
  }
  read(0)
  let fromUs = 100
  let struck = -1
  const target = pick(count * perWave)
  for (let wave = 0, nth = 0; wave < count; wave++) {
    const freeUs = new Float64Array(64).fill(fromUs)
    for (let at = 0; at < perWave; at++, nth++) {
      const client = freeUs.indexOf(Math.min(...freeUs))
      const callUs = freeUs[client]! + 1 + pick(100)
      const streamed = random() < 0.5
      const costCredits = random() < 0.3 ? 2 : 1
      const tookUs = 600 + pick(3_000)
      const hangs = !(streamed && plainHangs) && random() < 0.03
      const isAborted = !hangs && streamed && random() < 0.1
      const left = hangs ? 'timeout' : isAborted ? 'aborted' : 'no'
      const endUs =
        callUs +
        (hangs ? deadlineUs + pick(8) : isAborted ? 150 + pick(earlyUs ?? tookUs - 200) : tookUs)
      freeUs[client] = endUs
      const row = rows.length
      const contentEvents = streamed && !hangs && endUs - callUs > 300 ? 1 + pick(5) : 0
      const admittedUs = callUs + oneWayUs
      const common = { slot: row, callUs, endUs, costCredits, streamed, contentEvents }
      const change = (atUs: number, credits: number, shownTo?: number) =>
        changes.push({ atUs, credits, ...(shownTo === undefined ? {} : { shownTo }) })
      const heldUs = service.holds ? admittedUs : callUs + tookUs - oneWayUs
      if (left === 'no') {
        change(heldUs, -costCredits, row)
        if (service.twice === 'success' && struck < 0 && nth >= target) {
          struck = row
          change(callUs + tookUs - oneWayUs, -costCredits)
        }
        rows.push({ ...common, effect: 'charge', readUs: endUs })
        continue
      }
      rows.push({ ...common, effect: 'ambiguous', abandonment: left })
      const policy = service.policies[(hangs ? 2 : 0) + (streamed ? 1 : 0)]!
      const learnsUs = endUs + oneWayUs
      const finished = !hangs && callUs + tookUs - oneWayUs <= learnsUs
      const charged =
        finished ||
        policy === 'all' ||
        (policy === 'content' && contentEvents > 0) ||
        (policy === 'from' && endUs - callUs > 1_500)
      if (service.holds || policy === 'held') change(admittedUs, -costCredits)
      const isHeld = service.holds || policy === 'held'
      if (charged && !isHeld) change(learnsUs, -costCredits)
      if (service.twice === 'abort' && charged && isAborted && struck < 0 && nth >= target) {
        struck = row
        change(learnsUs, -costCredits)
      }
      if (charged) continue
      const backUs = policy === 'held' ? learnsUs + service.laterUs : learnsUs
      if (isHeld) change(backUs, costCredits)
      if (policy === 'delayed') change(learnsUs + service.laterUs, -costCredits)
    }
    fromUs = Math.max(...freeUs) + restUs
    read(fromUs)
    fromUs += 100
  }
  read(fromUs + restUs)
  let balance = 100_000
  const shown = new Map<number, number>()
  for (const { credits, shownTo, atUs } of changes.sort((a, b) => a.atUs - b.atUs)) {
    if (atUs > fromUs + restUs + 20) break
    balance += credits
    if (shownTo !== undefined) shown.set(shownTo, balance)
  }
  const history = historyOf(
    rows.map((row, at) => (shown.has(at) ? { ...row, value: shown.get(at)! } : row)),
  )
  return { history, struck }
}

const anyService = (random: () => number): Service => {
  const pick = <Each>(from: readonly Each[]) => from[Math.floor(random() * from.length)]!
  return {
    policies: Array.from({ length: 4 }, () => pick(policies)),
    laterUs: Math.floor(random() ** 2 * 120_000),
    holds: random() < 0.7,
    twice: 'none',
  }
}

test('sums accuse no policy of charging or holding abandoned requests, over 120 services', () => {
  const random = seeded(41)
  for (let at = 0; at < 120; at++) {
    const service = anyService(random)
    const { history } = waves(service, random, 4, 200)
    const isProven = readBalance(history).settled()?.isProven ?? false
    expect(isProven, `${at} ${JSON.stringify(service)}`).toBe(false)
  }
})

/** It holds credits of timeouts, returns them, and charges one request twice. */
const holdsForTimeouts = {
  policies: ['none', 'all', 'none', 'none'],
  laterUs: 0,
  holds: true,
  twice: 'success',
  earlyUs: 340,
  plainHangs: true,
} as const

test('a double charge is proven and located where timeouts hold credits and return them', () => {
  const random = seeded(43)
  let [proven, located] = [0, 0]
  for (let at = 0; at < 5; at++) {
    const { history, struck } = waves(holdsForTimeouts, random, 10, 600)
    const ledger = readBalance(history)
    const settled = ledger.settled()
    if (settled === null) continue
    if (settled.isProven) proven++
    expect(settled.credits).toBe(history.costCredits[rowOf(history, struck)])
    const [likeliest, ...others] = placesOfStep(history, ledger.meaning, settled)
    const { rows } = suspectsOf(history, [likeliest!, ...others], settled.credits)
    if (rows.some((row) => history.slot[row] === struck)) located++
  }
  expect({ proven, located }).toEqual({ proven: 4, located: 5 })
})

function rowOf(history: History, slot: number): number {
  return history.slot.indexOf(slot)
}

test('an abort that the policy charges is a suspect like any success', () => {
  const random = seeded(53)
  for (let at = 0; at < 3; at++) {
    const service = { ...holdsForTimeouts, twice: 'abort' } as const
    const { history, struck } = waves(service, random, 10, 600)
    const ledger = readBalance(history)
    const settled = ledger.settled()!
    expect(settled.isProven).toBe(true)
    const places = placesOfStep(history, ledger.meaning, settled)
    const { rows } = suspectsOf(
      history,
      [places[0]!, ...places.slice(1)],
      settled.credits,
      settled.charged,
    )
    expect(rows.slice(0, 16).map((row) => history.slot[row])).toContain(struck)
  }
})

test('a timeout during a client stall may be charged, so it raises no alarm', () => {
  const random = seeded(47)
  const { history } = waves(holdsForTimeouts, random, 10, 600)
  const settled = readBalance(history).settled()
  expect(settled).toMatchObject({ isProven: true })
  const endUs = history.endUs.slice()
  // One timeout of that stretch was late by half of its deadline.
  const late = history.abandonment.findIndex((left, row) => left === 2 && row > settled!.from)
  endUs[late] = endUs[late]! + deadlineUs / 2
  expect(readBalance({ ...history, endUs }).settled()).toBeNull()
})

test('a stall in one stretch hides no double charge in another', () => {
  const { history } = waves(holdsForTimeouts, seeded(47), 10, 600)
  const { from } = readBalance(history).settled()!
  const endUs = history.endUs.slice()
  // A plain success of another stretch took as long as the deadline.
  const stretches = [0, history.size - 1].sort((a, b) => Math.abs(b - from) - Math.abs(a - from))
  const away = stretches[0] === 0 ? [1, 500] : [history.size - 500, history.size - 1]
  const slow = history.effect.findIndex(
    (effect, row) =>
      effect === 0 && history.streamed[row] === 0 && row >= away[0]! && row < away[1]!,
  )
  endUs[slow] = history.callUs[slow]! + deadlineUs + 4
  expect(readBalance({ ...history, endUs }).settled()).toMatchObject({ from, isProven: true })
})
