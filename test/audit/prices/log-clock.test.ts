import { expect, test } from 'vitest'
import type { PriceJudgements } from '../../../src/audit/evidence/prices/judgements.ts'
import type { LogRow } from '../../../src/audit/evidence/prices/log.ts'
import { timesOf } from '../../../src/audit/rules/prices/log-times.ts'
import { hourMs } from '../../../src/user/durations.ts'
import { request } from '../../price/made-requests.ts'

/** A day before the clocks of Cuba and of New York go back, at 05:00 and 06:00 UTC. */
const firstMs = Date.parse('2026-10-31T00:00:00Z')
const noDelay = { prices: { evidence: {} }, requests: [] } as unknown as PriceJudgements

/** Requests of an hour each, and the rows of a log that has the clock of a place and no zone. */
function logOf(zone: string, hours: number) {
  const read = { times: 0 }
  const clock = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  const pairs = Array.from({ length: hours }, (_, nth) => {
    const ms = firstMs + nth * hourMs
    const own = request({ endMs: ms, askedMs: ms })
    const counted = Object.defineProperty({ ...own }, 'startMs', {
      get: () => {
        read.times++
        return ms
      },
    })
    const atMs = Date.parse(`${clock.format(ms).replace(' ', 'T')}Z`)
    return { request: counted, rows: [{ atMs, isZoneOpen: true } as LogRow] }
  })
  return { pairs, read }
}

test.each(['America/Havana', 'America/New_York'])(
  'the clock of %s is found also where it differs from another in one hour of a long log',
  (zone) => {
    const { pairs } = logOf(zone, 2000)
    const times = timesOf(pairs, noDelay)
    const wrong = pairs.filter(({ request: each, rows }) => !times.isOf(each, rows[0]!.atMs!))
    expect(wrong).toEqual([])
    expect(times.clock.place).not.toBeNull()
  },
)

test('the clocks on earth are compared with a bounded part of a long log', () => {
  const { pairs, read } = logOf('America/New_York', 4000)
  timesOf(pairs, noDelay)
  expect(read.times / pairs.length).toBeLessThan(40)
})
