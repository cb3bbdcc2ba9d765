import { flags } from '../../attempt/flags.ts'
import { windowUs } from '../../contract/contract.ts'
import { cellsNamed } from '../../limits/band.ts'
import { otherWindowMayRefuse, pacingOf } from '../../limits/other-windows.ts'
import type { Rule } from '../rule.ts'
import { historyOf, type Sighting, witnessOf } from './history.ts'

export const rate19: Rule = {
  id: 'RATE-19',
  says: 'Retry-After, if present, is delta-seconds or an HTTP date within the window',
  section: '§8.1',
  severity: 'advice',
  needs: ['passive'],
  explain: `RFC 9110 allows a number of seconds or an HTTP date. A number that is longer than two of the
windows that were full (of days where that is not certain) is an epoch or milliseconds: a sliding counter
takes up to two to forget. A value that is no number is
looked up in the captured answer: a date passes, anything else fails, and without a capture nothing is
decided.`,
  async decide(evidence) {
    const { contract, store, runIds } = evidence
    const { sightings, byAccount } = await historyOf(evidence)
    const shown = sightings.filter(
      ({ retryAfterS, flags: bits }) =>
        retryAfterS !== null || (bits & flags.retryAfterNotSeconds) !== 0,
    )
    if (shown.length === 0) {
      return { verdict: 'not-observed', takes: 'an answer with Retry-After' }
    }
    const fail = (sighting: Sighting, came: string) =>
      ({
        verdict: 'fail',
        observations: shown.length,
        expected: 'delta-seconds within the window, or an HTTP date',
        came,
        witnesses: [witnessOf(sighting, `retry-after ${came}`)],
      }) as const
    for (const sightings of byAccount.values()) {
      const pacing = pacingOf(sightings)
      for (const [index, sighting] of sightings.entries()) {
        const { retryAfterS, limit } = sighting
        if (retryAfterS === null) continue
        const [cell] = limit === null ? [] : cellsNamed(contract, limit)
        const isOfCell =
          cell !== undefined &&
          !otherWindowMayRefuse(cell.band, cell.window, sightings, index, pacing)
        // A counter that weights the last window may take two to be free again.
        const longestS = (2 * windowUs[isOfCell ? cell.window : 'day']) / 1e6
        if (retryAfterS < 0 || retryAfterS > longestS + 1) return fail(sighting, `${retryAfterS}`)
      }
    }
    const worded = shown.filter(({ retryAfterS }) => retryAfterS === null)
    if (worded.length === 0) return { verdict: 'pass', observations: shown.length }
    const captured = await store.rows<{
      run_id: string
      slot: number
      retry: number
      headers: string
    }>(
      `SELECT run_id, slot, retry, headers FROM bodies
       WHERE list_contains($1::VARCHAR[], run_id) AND headers ILIKE '%retry-after:%'`,
      [JSON.stringify(runIds)],
    )
    let dated = 0
    for (const sighting of worded) {
      const row = captured.find(
        ({ run_id, slot, retry }) =>
          run_id === sighting.runId && slot === sighting.slot && retry === sighting.retry,
      )
      const value = row?.headers.match(/^retry-after:\s*(.*?)\s*$/im)?.[1]
      if (value === undefined) continue
      if (!isHttpDate(value)) return fail(sighting, JSON.stringify(value.slice(0, 60)))
      dated++
    }
    if (dated > 0) return { verdict: 'pass', observations: shown.length, note: 'as HTTP dates' }
    return {
      verdict: 'inconclusive',
      observations: shown.length,
      why: 'Retry-After is no number, and no answer with it was captured',
    }
  },
}

/** IMF-fixdate, the form that RFC 9110 asks senders to use. */
function isHttpDate(value: string): boolean {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(
    value,
  )
}
