import { withoutNoise } from '../../../credits/fields.ts'
import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import { judgedRule, type Observed } from '../exchange-rule.ts'
import { isAfter, pairs } from './pairs.ts'
import { named } from './report-rule.ts'

export const use02 = judgedRule({
  id: 'USE-02',
  title: 'Granted credits equal consumed plus remaining credits',
  section: '§4.4',
  needs: ['active', 'quiescence'],
  promised: ['paths.credits'],
  explain: `Compares responses of the credits endpoint for one key, one completely after the other, that
show the same granted credits: consumption in between must reduce the remaining credits. Without any, nothing is compared. A single response is not
checked, because bought credits need not count as granted. If responses do not show expired
credits, more may be missing than was consumed. ${named}`,
  expected: 'granted = consumed + remaining',
  requires:
    'two captured answers of GET /user/credits that tell the same granted credits, too, and consumption in between',
  async judged(evidence) {
    const reports = pairs(await usageReports(evidence))
    return reports.map(([earlier, later]) => [later.exchange, compared(earlier, later)])
  },
})

function compared(earlier: UsageReport, later: UsageReport): Observed {
  if (later.granted === null || earlier.granted !== later.granted) return undefined
  if (earlier.consumed === null || later.consumed === null) return undefined
  if (earlier.remaining === null || later.remaining === null) return undefined
  const grew = withoutNoise(later.consumed - earlier.consumed)
  const fell = withoutNoise(earlier.remaining - later.remaining)
  // Consumed credits fell: a period ended, or USE-07 reports it.
  if (grew < 0 || !isAfter(later, earlier)) return undefined
  // Where nothing was consumed, a page that never changes looks the same.
  if (grew === 0 && fell === 0) return undefined
  const tellsExpiry = earlier.expired !== null && later.expired !== null
  const expired = tellsExpiry ? later.expired - earlier.expired : Math.max(0, fell - grew)
  return withoutNoise(grew + expired) === fell
    ? null
    : `consumed grew by ${grew} and remaining fell by ${fell}, of the same ${later.granted} granted`
}
