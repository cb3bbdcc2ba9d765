import { billingRule, witnessOf } from '../../evidence/balances.ts'
import { fail, inconclusive, notObserved, passed } from '../../verdict.ts'
import { clearStretches, rowsOf, type SeenStretch } from '../billing/stretches.ts'

export const auth06 = billingRule({
  id: 'AUTH-06',
  title: 'A key moves the balance of its own account and of no other',
  section: '§2.8',
  needs: ['active', 'quiescence'],
  explain: `Two accounts in one run: each balance must fall by the cost of its own requests. If one account
misses as many credits as another did not pay for a request of that time, a charge went to the wrong account. It is inconclusive
if most of what is missing went at other times.`,
  decideBy(readings) {
    const runs = [...Map.groupBy(readings, (reading) => reading.history.runId).values()]
      .map((all) =>
        all.filter((reading) => reading.charges > 0 || reading.conservation.whole !== null),
      )
      .filter((all) => all.length > 1)
    const requires = 'two accounts in one run, each with idle values of its balance'
    if (runs.length === 0) return notObserved(requires)
    let observations = 0
    for (const run of runs) {
      const judged = run.map((reading) => clearStretches([reading])).filter((all) => all.length > 0)
      // A balance that rose was topped up, which is no undercharge.
      const all = judged.flat().filter(({ stretch }) => stretch.taken >= 0)
      const over = all.filter(({ stretch: { excess } }) => excess > 0)
      const under = all.filter(({ stretch: { excess } }) => excess < 0)
      const moved = over.flatMap((more) => {
        const less = under.find((each) => paidBy(more, each))
        return less === undefined ? [] : [{ more, less }]
      })
      const [first] = moved
      if (first !== undefined && moved.length * 2 >= over.length) {
        const { more, less } = first
        return fail(judged.length, {
          expected: 'each account pays for its own requests',
          observed: `${more.reading.history.account} paid ${more.stretch.excess} too much, ${less.reading.history.account} ${-less.stretch.excess} too little`,
          witnesses: [
            witnessOf(more.reading, more.stretch.to, `${more.stretch.excess} too low`),
            witnessOf(less.reading, less.stretch.to, `${-less.stretch.excess} too high`),
          ],
        })
      }
      if (over.some((more) => under.some((less) => less.reading !== more.reading)))
        return inconclusive(
          judged.length,
          'the balance of one account is too low and that of another too high, but mostly at other times: no request is shown to be paid by the wrong account',
        )
      if (judged.length > 1 && over.length === 0) observations += judged.length
    }
    return passed(observations, requires)
  },
})

/** Whether what one account paid too much is what another did not pay for a request of that time. */
function paidBy(more: SeenStretch, less: SeenStretch): boolean {
  if (more.reading === less.reading || more.stretch.excess !== -less.stretch.excess) return false
  const { callUs, endUs } = more.reading.history
  const [fromUs, toUs] = [callUs[more.stretch.from]!, endUs[more.stretch.to]!]
  return rowsOf(less, 'charge').some((row) => {
    const atUs = less.reading.history.callUs[row]!
    return fromUs <= atUs && atUs <= toUs
  })
}
