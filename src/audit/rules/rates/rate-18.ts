import { type Band, windowUs } from '../../../contract/contract.ts'
import { bandsWithin, cellsNamed } from '../../../limits/band.ts'
import { trailingBrackets } from '../../../limits/trailing.ts'
import { fail, passed } from '../../verdict.ts'
import { type RateEvent, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'

export const rate18 = rateRule({
  id: 'RATE-18',
  title:
    'The limit follows the balance across an edge at once or with the next window, and never changes otherwise',
  needs: ['active', 'quiescence'],
  promised: ['bands', 'headers.rate_limit', 'headers.credits_remaining'],
  explain: `Looks at responses of one key with limits of the minute. If neighbouring responses have different
rows, the balances from the earlier one to the trailing minute of the later one must contain an edge. A row that is a minute
behind its balance did not follow. If the balance is unknown (no credits header nearby), nothing is
decided.`,
  decide({ byAccount }, { contract }) {
    let crossings = 0
    for (const ofAccount of byAccount.values()) {
      const trailing = trailingBrackets(ofAccount, windowUs.minute)
      const last = new Map<string, { readonly event: RateEvent; readonly bands: readonly Band[] }>()
      const recordStart = ofAccount[0]!.fromUs
      for (const [index, event] of ofAccount.entries()) {
        if (event.limit === null || event.status === 401) continue
        // Several bands may have the same limit.
        const bands = cellsNamed(contract, event.limit)
          .filter(({ window }) => window === 'minute')
          .map(({ band }) => band)
        if (bands.length === 0) continue
        const before = last.get(event.key)
        last.set(event.key, { event, bands })
        const bracket = { low: trailing.low[index]!, high: trailing.high[index]! }
        if (!Number.isFinite(bracket.high) || before === undefined) continue
        const possible = bandsWithin(contract, bracket)
        if (possible.length === 0) continue
        const isPossible = (band: Band) => possible.includes(band)
        const changed = before.event.limit !== event.limit
        if (changed && before.bands.some(isPossible) && bands.some(isPossible)) crossings++
        // Between two bands lies an edge, however long ago the response before was.
        const were = bandsWithin(contract, before.event.balance)
        const causeless =
          changed && possible.length === 1 && were.length === 1 && were[0] === possible[0]
        const behind =
          !changed && !bands.some(isPossible) && event.fromUs - recordStart > windowUs.minute
        if (!causeless && !behind) continue
        return fail(crossings + 1, {
          expected: `the row of band ${possible.map(({ name }) => name).join(' or ')}, by the balances of the last minute`,
          observed: changed
            ? `the limit changed from ${before.event.limit} to ${event.limit} without an edge`
            : `limit ${event.limit}, a minute after the balance left its band`,
          witnesses: [
            witnessOf(
              before.event,
              `limit ${before.event.limit} with ${before.event.credits ?? 'no'} credits shown`,
            ),
            witnessOf(event, `limit ${event.limit} with ${event.credits ?? 'no'} credits shown`),
          ],
        })
      }
    }
    return passed(
      crossings,
      'requests of one key while its balance crosses an edge (scenarios/bands.yaml)',
    )
  },
})
