import type { Credits } from '../../../contract/contract.ts'
import { billingRule, credits, successes, witnessOf } from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { readBounds } from '../../evidence/billing/bounds.ts'
import type { Stretch } from '../../evidence/billing/conservation.ts'
import { effects } from '../../evidence/billing/history.ts'
import { rowsWhere } from '../../evidence/billing/operations.ts'
import { RunningSum } from '../../evidence/billing/running-sum.ts'
import { type Exchange, shownBy } from '../../evidence/exchange.ts'
import { mayBeMoved } from '../../evidence/other-cause.ts'
import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import {
  fail,
  inconclusive,
  notesOf,
  notObserved,
  pass,
  passed,
  untested,
  type Verdict,
  type Witness,
} from '../../verdict.ts'
import { rowsOf } from './stretches.ts'

export const bill07 = billingRule({
  id: 'BILL-07',
  title: 'Completed requests are charged, and requests that fail midway are not',
  section: '§8.4.2',
  needs: ['active', 'quiescence'],
  explain: `Looks at stretches between idle values in which the balance was read while a stream was open:
the balance may be held or charged at its start (gap G-13), but once it completed it must have fallen
by its price, once. A stream that the service itself ended with an error did not complete: if
nothing else happened, it must have cost nothing. Among successes, two or more of them must all have been charged,
and no stretch without one may have taken too much; otherwise a success may have been charged twice, and the
stretch is inconclusive. An earlier abandoned request may be charged meanwhile or
return its held credits (gap G-14): stretches that it may affect decide nothing, nor do those in which credits came in or may have expired.`,
  async decideBy(readings, { store, runIds, contract }) {
    const broken = await store.rows<{ name: string }>(
      `SELECT run_id || '/' || slot || '/' || retry AS name FROM attempts
       WHERE list_contains($1::VARCHAR[], run_id) AND outcome = 'broken'
         AND (reason = 'error-in-stream' OR error_type IS NOT NULL)`,
      [JSON.stringify(runIds)],
    )
    const brokeOff = new Set(broken.map(({ name }) => name))
    let observations = 0
    const tested = new Set<string>()
    let mixed: { reading: BalanceReading; stretch: Stretch; failed: readonly number[] } | null =
      null
    let isAnotherCause = false
    for (const reading of readings) {
      if (reading.fits === 'late') continue
      const { history } = reading
      const isBrokeOff = (row: number) =>
        brokeOff.has(
          `${history.earlierRunIds?.[row] ?? history.runId}/${history.slot[row]}/${history.retry[row]}`,
        )
      const isOtherOpen = mayBeChargedIn(reading, (row) => !isBrokeOff(row))
      for (const stretch of reading.conservation.stretches) {
        const seen = { reading, stretch }
        const failed = rowsOf(seen, 'ambiguous').filter(isBrokeOff)
        if (failed.length > 0 && !isOtherOpen(stretch)) {
          observations += failed.length
          tested.add(midway)
          const tookCredits = stretch.taken - stretch.sure
          if (tookCredits > 0 && stretch.charges === 0)
            return chargedMidway(reading, failed, tookCredits)
          if (tookCredits > 0) mixed ??= { reading, stretch, failed }
        }
        isAnotherCause ||= failed.length === 0 && seen.stretch.excess > 0
        const charges = rowsOf(seen, 'charge')
        const [charge] = charges
        if (charge === undefined || charges.length > 1 || stretch.ambiguous > 0) continue
        if (!readWhileOpen(reading, charge)) continue
        // Credits that came in or expired meanwhile are no charge (BILL-10, BILL-19).
        if (stretch.taken < 0 || mayBeMoved(contract, stretch)) continue
        // BILL-06 covers charges of a concurrent failure.
        if (stretch.taken !== stretch.sure && rowsOf(seen, 'failure').length > 0) continue
        observations++
        tested.add(completed)
        if (stretch.taken === stretch.sure) continue
        return fail(observations, {
          expected: `${credits(stretch.sure)} charged once the stream was over`,
          observed: `${credits(stretch.taken)} charged`,
          witnesses: [witnessOf(reading, charge, 'the stream during which the balance was read')],
        })
      }
    }
    if (mixed !== null) {
      const { reading, stretch, failed } = mixed
      const tookCredits = stretch.taken - stretch.sure
      const costCredits = failed.reduce((sum, row) => sum + reading.history.costCredits[row]!, 0)
      if (!isAnotherCause && failed.length > 1 && tookCredits === costCredits)
        return chargedMidway(reading, failed, tookCredits)
      return inconclusive(
        observations,
        `account ${reading.history.account}: ${credits(tookCredits)} too much in a stretch of ${failed.length} streams that failed midway and ${stretch.charges} successes; either may have been charged wrongly`,
        [witnessOf(reading, failed[0]!, 'ended with an error event')],
      )
    }
    return observations === 0
      ? notObserved('a read of the balance while a slow stream is open, and one after')
      : pass(observations, notesOf(untested([completed, midway], tested)))

    function chargedMidway(
      reading: BalanceReading,
      [failed]: readonly number[],
      tookCredits: Credits,
    ): Verdict {
      return fail(observations, {
        expected: 'nothing charged for a stream that failed midway',
        observed: `${credits(tookCredits)} charged`,
        witnesses: [witnessOf(reading, failed!, 'ended with an error event')],
      })
    }
  },
})

const completed = 'streams that completed'
const midway = 'streams that failed midway'

/** Returns a test: whether an ambiguous attempt for which `counts` holds may be charged in a stretch. */
function mayBeChargedIn(
  { history }: BalanceReading,
  counts: (row: number) => boolean,
): (stretch: Stretch) => boolean {
  const { size, effect, callUs, endUs, settlesByUs } = history
  const rows = rowsWhere(size, (row) => effect[row] === effects.ambiguous && counts(row))
  const called = new RunningSum(rows, (row) => callUs[row]!)
  const over = new RunningSum(rows, (row) => settlesByUs[row]!)
  return ({ from, to }) => called.upTo(endUs[to]!) > over.before(callUs[from]!)
}

function readWhileOpen({ history }: BalanceReading, charge: number): boolean {
  const { callUs, endUs, effect, value } = history
  for (let row = charge + 1; row < history.size && callUs[row]! < endUs[charge]!; row++) {
    if (effect[row] === effects.read && !Number.isNaN(value[row]!) && endUs[row]! < endUs[charge]!)
      return true
  }
  return false
}

export const bill08 = billingRule({
  id: 'BILL-08',
  title: 'A charge has settled when its response is over',
  section: '§8.4.2',
  needs: ['passive', 'quiescence'],
  explain: `Every value that was read after a response ended must show its charge. It fails when the
values fit only with charges that settle later, and the balance was read before the first request and after the last, where it is
right. Without these two values it is inconclusive. The reported delay is the smallest of a list of delays that explains them.`,
  decideBy(readings) {
    const ofLate = readings.filter(({ fits }) => fits === 'late')
    const late = ofLate.find(({ settleUs, doubt }) => settleUs > 0 && doubt === null)
    const [stale] = ofLate
    const judged = readings.filter(
      ({ fits, charges, observations }) => fits !== 'none' && charges > 0 && observations > 1,
    )
    const observations = judged.reduce((sum, reading) => sum + reading.observations, 0)
    if (late !== undefined) {
      // What no value needs to include is missing in these even so.
      const sight = { includesOwn: () => false, graceUs: 0, holds: true }
      const { rise, least } = readBounds(late.history, sight)
      const later = Math.max(rise?.later ?? least.row, 0)
      const over = rise?.earlier ?? lastOverBefore(late, later)
      const witnesses: [Witness, ...Witness[]] = [
        witnessOf(late, later, 'does not show what had been charged before'),
        ...(over === null ? [] : [witnessOf(late, over, 'was over by then')]),
      ]
      return fail(observations, {
        expected: `account ${late.history.account}: every charge in every later value`,
        observed: `charges that show up to ${late.settleUs / 1e6} s after their response`,
        witnesses,
      })
    }
    if (stale !== undefined)
      return inconclusive(
        observations,
        stale.doubt === null
          ? 'the header shows values that are older than its response, and the balance is right in the end'
          : `account ${stale.history.account}: ${stale.doubt}`,
      )
    return passed(observations, 'a success, and a value of the balance after it')
  },
})

/** Bodies whose remaining credits nobody can read are no pass. */
function unreadableBody(reports: readonly UsageReport[]): Verdict {
  const texts = reports.map(({ exchange, unreadable }) =>
    shownBy(exchange, `remaining ${JSON.stringify(unreadable)} in the body`),
  )
  return inconclusive(
    reports.length,
    `the remaining credits of ${reports.length} bodies are no number: ${JSON.stringify(reports[0]?.unreadable)}`,
    texts.slice(0, 3),
  )
}

/** The last success whose response was over before a request was called; null without one. */
function lastOverBefore({ history }: BalanceReading, later: number): number | null {
  const { size, effect, callUs, endUs } = history
  let last: number | null = null
  for (let row = 0; row < size; row++) {
    if (effect[row] !== effects.charge || endUs[row]! >= callUs[later]!) continue
    if (last === null || endUs[row]! > endUs[last]!) last = row
  }
  return last
}

/** The reading whose idle values include an answer, and its place among them; null if something else was in flight. */
function idleAnswer(
  readings: readonly BalanceReading[],
  { runId, slot, retry }: Exchange['row'],
): { readonly reading: BalanceReading; readonly at: number } | null {
  for (const reading of readings) {
    const { history, conservation } = reading
    if (history.runId !== runId) continue
    const at = conservation.idle.findIndex(
      (row) => history.slot[row] === slot && history.retry[row] === retry,
    )
    if (at >= 0) return { reading, at }
  }
  return null
}

export const bill12 = billingRule({
  id: 'BILL-12',
  title: 'The credits endpoint and the header show the same balance',
  section: '§4.4, §8.4.4',
  needs: ['active', 'quiescence'],
  explain: `Compares the remaining credits in the body of GET /user/credits, read with nothing else in
flight, with its own header. Without that header, it compares with the last value before it, unless
credits were bought or may have expired since. If the headers alone explain every charge and these bodies do not
fit them, the bodies are late or of another account, and no other rule reads them. If only the prices of requests since the
header before it contradict a body, it is inconclusive: they may have taken another price. Remaining credits that are no
number, such as \`1,499\`, make it inconclusive, too. The field is identified by its name (gap G-09).`,
  async decideBy(readings, evidence) {
    for (const reading of readings) {
      const [first] = reading.pageContradictions ?? []
      if (first === undefined) continue
      const count = reading.pageContradictions!.length
      return fail(count, {
        expected: `${first.expected} remaining${first.unsettled === 0 ? '' : ` (give or take ${first.unsettled} of abandoned requests)`}, by the header before it and what was charged since`,
        observed: `${first.shown}${count > 1 ? `; ${count} answers differ from the headers` : ''}`,
        witnesses: [
          witnessOf(
            reading,
            first.row,
            `remaining ${first.shown} in the body, ${first.expected} by the headers before it`,
          ),
        ],
        note: 'The headers alone fit every charge, so this page is late, or of another account. The other rules leave it out.',
      })
    }
    const whole = (await usageReports(evidence)).filter(
      ({ exchange }) => !(exchange.row.path ?? '').includes('?'),
    )
    const reports = whole.filter(({ remaining }) => remaining !== null)
    const unread = whole.filter(({ unreadable }) => unreadable !== null)
    let observations = 0
    let open: Verdict | null = unread[0] === undefined ? null : unreadableBody(unread)
    for (const { exchange, remaining, shown: header } of reports) {
      const { runId, slot, retry } = exchange.row
      const found = idleAnswer(readings, exchange.row)
      if (found === null || found.reading.fits === 'late') continue
      const { reading, at } = found
      const { idle, balance } = reading.conservation
      const stretch = reading.conservation.stretches[at - 1]
      // Credits that an abandoned request may hold are in only one of the two.
      if (stretch === undefined ? reading.ambiguous > 0 : stretch.ambiguous > 0) continue
      const expected =
        header ??
        (stretch === undefined || stretch.taken < 0 || mayBeMoved(evidence.contract, stretch)
          ? null
          : balance[at - 1]! - stretch.sure - (reading.history.spentOnReads?.[idle[at]!] ?? 0))
      if (expected === null) continue
      observations++
      if (expected === remaining) continue
      // The page is itself the value after the charges: either it is wrong, or they took another price.
      if (header === null && stretch !== undefined && stretch.taken !== stretch.sure) {
        open ??= inconclusive(
          observations,
          `remaining ${remaining} in the body, ${expected} by the prices of the ${successes(stretch.charges)} since the header before it; either the body is wrong, or they took another price`,
          [shownBy(exchange, `remaining ${remaining} in the body`)],
        )
        continue
      }
      return fail(observations, {
        expected: `${expected} remaining, ${header === null ? 'by the header before it and what was charged since' : 'as its header tells'}`,
        observed: `${remaining}`,
        witnesses: [
          {
            runId,
            slot,
            retry,
            shows: `remaining ${remaining} in the body, ${expected} by the ${header === null ? 'headers before it' : 'header'}`,
          },
        ],
      })
    }
    return (
      open ?? passed(observations, 'a captured answer of GET /user/credits with nothing in flight')
    )
  },
})
