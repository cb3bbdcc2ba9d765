import type { Rule } from '../rule.ts'
import { continuityOf } from './continuity.ts'
import { historyOf, witnessOf } from './history.ts'

/** So many answers must agree before a counter for each endpoint is believed. */
const agreement = 3

export const rate15: Rule = {
  id: 'RATE-15',
  says: 'one counter for each key holds for both generation endpoints',
  section: '§8.1',
  severity: 'derived',
  needs: ['active'],
  explain: `Where a key alternates between chat and messages, one after the other, the number used goes on
from the last answer of either, not from the last answer of the same endpoint. Three answers that go on
from their own endpoint, and none from the other, fail: two counters let through twice the limit.`,
  async decide(evidence) {
    const { byKey } = await historyOf(evidence)
    const found = [...byKey.values()].map((sightings) =>
      continuityOf(
        sightings.filter(({ endpoint }) => endpoint === 'chat' || endpoint === 'messages'),
        ({ endpoint }) => endpoint,
        false,
      ),
    )
    const own = found.flatMap((continuity) => continuity.own)
    const shared = found.flatMap((continuity) => continuity.shared)
    const observations = own.length + shared.length
    if (observations === 0) {
      return { verdict: 'not-observed', takes: 'one key on chat and messages in turn' }
    }
    const [first] = own
    if (first !== undefined && own.length >= agreement && shared.length === 0) {
      return {
        verdict: 'fail',
        observations,
        expected: `${first.before.remaining! - 1} remaining after ${first.before.remaining}`,
        came: `${first.after.remaining}: each endpoint counts for itself, ${own.length} times`,
        witnesses: [
          witnessOf(first.before, `${first.before.endpoint}: ${first.before.remaining} remaining`),
          witnessOf(first.after, `${first.after.endpoint}: ${first.after.remaining} remaining`),
        ],
      }
    }
    if (own.length >= agreement || shared.length === 0) {
      return {
        verdict: 'inconclusive',
        observations,
        why: `${own.length} counts went on from their own endpoint, ${shared.length} from the other`,
        witnesses: own.slice(0, agreement).map(({ after }) => witnessOf(after, 'goes on alone')),
      }
    }
    return { verdict: 'pass', observations }
  },
}
