import { describe, expect, test } from 'vitest'
import { novemberUs } from '../../../report/attempts.ts'
import { audited, chat, contractOf, spendPage as page, row, type Sent } from '../../prices/paid.ts'

/** A row of a request that was sent some seconds after its run began, and took 100 ms. */
const sentAt = (seconds: number): NonNullable<Sent['ended']> => {
  const us = seconds * 1e6
  return {
    ...{ intendedUs: us, dispatchedUs: us, sentUs: us },
    ...{ headersUs: us + 1e3, doneUs: us + 1e5, closedUs: us + 1e5 },
  }
}

describe('the clock of a log', () => {
  const at = (nth: number, aheadS: number) => novemberUs / 1000 + (nth + aheadS) * 1000
  const many = ['a', 'b', 'c'].map(chat)
  const found = async (
    startTime: (nth: number) => string,
    sent: readonly Sent[] = many,
    contract = contractOf(),
  ) => {
    const rows = many.map((_, nth) => ({
      ...row('abc'[nth]!, 0.00014, nth),
      startTime: startTime(nth),
    }))
    return (await audited(sent, null, { log: rows, contract }))['PRICE-05']!
  }
  const local = (nth: number, hours: number) =>
    new Date(at(nth, hours * 3600)).toISOString().replace('Z', '').replace('T', ' ')

  test.each([2, -5, 5.5])(
    'without a zone may be that of any, such as %d hours ahead',
    async (hours) => {
      expect(await found((nth) => local(nth, hours))).toMatchObject({
        verdict: 'pass',
        note: `joined by id; its times have no zone, and are ${Math.abs(hours) * 60} minutes ${hours > 0 ? 'ahead of' : 'behind'} UTC`,
      })
    },
  )

  test('without a zone is wrong if not all of its times are of one, and the others alone are told', async () => {
    const one = { verdict: 'fail', observed: expect.stringMatching(/^[^(]* \(1\); joined/) }
    expect(await found((nth) => local(nth, nth === 1 ? 3 : 2))).toMatchObject(one)
    expect(await found((nth) => local(nth, nth === 1 ? 2 : 0))).toMatchObject(one)
    expect((await found((nth) => local(nth, 0.11))).verdict).toBe('fail')
  })

  test('without a zone is none that no clock on earth has', async () => {
    expect((await found((nth) => local(nth, 0.25))).verdict).toBe('fail')
    expect((await found((nth) => local(nth, 5.75))).verdict).toBe('pass')
  })

  test('without a zone may be late by what the contract says', async () => {
    const slow = contractOf({
      evidence: {
        log: {
          ...{ cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' },
          within: '10m',
        },
      },
    })
    const late = (nth: number) => local(nth, 2 + (8 + nth / 2) / 60)
    const isNote = expect.stringContaining('120 minutes ahead of UTC')
    expect(await found(late, many, slow)).toMatchObject({ verdict: 'pass', note: isNote })
    expect((await found(late)).verdict).toBe('fail')
  })

  test('without a zone may change with the summer time of a place', async () => {
    // On 2026-11-01, at 06:00 UTC, the clocks of New York went back from 4 hours behind UTC to 5.
    const sentS = [3600, 7200, 3 * 86_400]
    const sent = sentS.map((at, nth) => ({ ...many[nth]!, ended: sentAt(at) }))
    const clock = (hours: readonly number[]) => (nth: number) => local(sentS[nth]!, hours[nth]!)
    expect(await found(clock([-4, -4, -5]), sent)).toMatchObject({
      verdict: 'pass',
      note: expect.stringMatching(/have no zone, and are those of a place such as America\//),
    })
    // No clock changed before, or went forward, or by two hours.
    expect((await found(clock([-4, -5, -5]), sent)).verdict).toBe('fail')
    expect((await found(clock([-5, -5, -4]), sent)).verdict).toBe('fail')
    expect((await found(clock([-4, -4, -6]), sent)).verdict).toBe('fail')
  })

  test('with a zone is wrong if its times are those of another', async () => {
    const written = (nth: number) => new Date(at(nth, 7200)).toISOString()
    expect((await found(written)).verdict).toBe('fail')
  })

  test('may be apart from that of the client, as the Date of the answers shows', {
    tags: 'whole',
  }, async () => {
    const ahead = (nth: number) => new Date(at(nth, 300)).toISOString()
    const dated = many.map((each, nth) => ({
      ...each,
      headers: `date: ${new Date(at(nth, 300)).toUTCString()}`,
    }))
    expect((await found(ahead, dated)).verdict).toBe('pass')
    expect((await found(ahead)).verdict).toBe('fail')
    // A log that is not of the service's clock is still wrong.
    const before = (nth: number) => new Date(at(nth, -300)).toISOString()
    expect((await found(before, dated)).verdict).toBe('fail')
  })

  test('of the service says where a log ends, and which rows are of the run', {
    tags: 'whole',
  }, async () => {
    const aheadS = 300
    const dateOf = (nth: number) => `date: ${new Date(at(nth, aheadS)).toUTCString()}`
    const dated = (each: Sent, nth: number): Sent => ({ ...each, headers: dateOf(nth) })
    const timed = (nth: number) => ({
      ...row('abcdef'[nth]!, 0.00014, nth),
      startTime: new Date(at(nth, aheadS)).toISOString(),
    })
    // The log ends with the first three of six requests, the others of which came more than a minute later.
    const sparse = [
      ...['a', 'b', 'c'].map(chat),
      ...Array.from({ length: 80 }, () => page),
      ...['d', 'e', 'f'].map(chat),
    ].map(dated)
    const cut = await audited(sparse, null, { log: [0, 1, 2].map(timed) })
    expect(cut['PRICE-05']).toMatchObject({
      verdict: 'inconclusive',
      why: expect.stringContaining('before 3 of 6 requests with a cost'),
    })
    // Three minutes after the run by the service's clock is two minutes before it by the client's.
    const stray = (afterS: number) => ({
      ...row('other', 0.5, 9),
      startTime: new Date(at(3, aheadS + afterS)).toISOString(),
    })
    const beside = async (afterS: number) =>
      (await audited(many.map(dated), null, { log: [0, 1, 2].map(timed).concat(stray(afterS)) }))[
        'PRICE-05'
      ]!.verdict
    expect(await beside(-1.5)).toBe('fail')
    expect(await beside(20)).toBe('inconclusive')
    expect(await beside(180)).toBe('pass')
    expect(await beside(-310)).toBe('pass')
  })
})
