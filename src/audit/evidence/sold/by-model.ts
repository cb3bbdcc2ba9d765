import type { Model } from '../../../contract/contract.ts'
import { notObserved, pass, type Verdict } from '../../verdict.ts'

const worstFirst = ['fail', 'inconclusive', 'pass', 'not-observed', 'not-promised'] as const

/** The verdict over models: the worst of them, and which the others are. */
export function worstOf(
  verdicts: readonly { readonly model: Model; readonly verdict: Verdict }[],
  requires: string,
): Verdict {
  const sorted = verdicts.toSorted(
    (a, b) => worstFirst.indexOf(a.verdict.verdict) - worstFirst.indexOf(b.verdict.verdict),
  )
  const [worst] = sorted
  if (worst === undefined) return notObserved(requires)
  const alike = sorted.filter(({ verdict }) => verdict.verdict === worst.verdict.verdict)
  const { verdict } = worst
  const observations = alike.reduce(
    (sum, each) => sum + ('observations' in each.verdict ? each.verdict.observations : 0),
    0,
  )
  const others = alike.slice(1).map(({ model }) => model.id)
  const also = others.length === 0 ? '' : ` So are ${others.join(', ')}.`
  switch (verdict.verdict) {
    case 'pass': {
      const notes = alike.flatMap((each) =>
        'note' in each.verdict && each.verdict.note !== undefined
          ? [`${each.model.id}: ${each.verdict.note}`]
          : [],
      )
      return pass(observations, notes.length === 0 ? {} : { note: notes.join('; ') })
    }
    case 'fail':
      return { ...verdict, observations, observed: `${worst.model.id}: ${verdict.observed}${also}` }
    case 'inconclusive':
      return { ...verdict, observations, why: `${worst.model.id}: ${verdict.why}${also}` }
    default:
      return verdict
  }
}
