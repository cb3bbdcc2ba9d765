import { cellsNamed } from '../../../limits/band.ts'
import { otherWindowMayRefuse, pacingOf } from '../../../limits/other-windows.ts'
import { fail, passed } from '../../verdict.ts'
import { recordBegan, witnessOf } from './history.ts'
import { rateRule } from './rate-rule.ts'

export const rate10 = rateRule({
  id: 'RATE-10',
  title: 'A rejection shows no remaining requests',
  severity: 'must',
  needs: ['passive'],
  promised: ['bands', 'headers.rate_remaining'],
  explain: `A 429 shows X-RateLimit-Remaining 0 for the full window. The headers show only one window, which
may be another one (gap G-20): a rejection decides nothing if one of the other two windows may have been
full or may pace requests, counting every recorded attempt of the account. Requests of the key before
the record are assumed not to have filled an hour or a day. A 429 that the contract has for insufficient credits, or for overload, is no rejection.`,
  decide({ byAccount }, { contract }) {
    let observations = 0
    for (const events of byAccount.values()) {
      const pacing = pacingOf(events)
      for (const [index, event] of events.entries()) {
        const { decision, limit, remaining } = event
        if (decision !== 'rejected' || limit === null || remaining === null) continue
        const [cell] = cellsNamed(contract, limit)
        const decides =
          cell !== undefined &&
          !otherWindowMayRefuse(cell.band, cell.window, events, index, pacing) &&
          (cell.window === 'minute' || !recordBegan(events, event, 'minute'))
        if (remaining !== 0 && !decides) continue
        observations++
        if (remaining === 0) continue
        return fail(observations, {
          expected: 'remaining 0 on a 429',
          observed: `remaining ${remaining} of ${limit}`,
          witnesses: [witnessOf(event, `429 with remaining ${remaining} of ${limit}`)],
        })
      }
    }
    return passed(observations, 'a rejection (429) with rate-limit headers')
  },
})
