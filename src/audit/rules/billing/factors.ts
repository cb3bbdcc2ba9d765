import type { Contract } from '../../../contract/contract.ts'
import { counted } from '../../../user/grouped.ts'
import { billingRule, credits, witnessOf } from '../../evidence/balances.ts'
import { type Exchange, exchangesOf } from '../../evidence/exchange.ts'
import { untestedPairs } from '../../evidence/untested-pairs.ts'
import { fail, inconclusive, notObserved, pass, type Verdict } from '../../verdict.ts'
import { changeInTime } from './change-in-time.ts'
import { factors, keyOf, repetition } from './factor-levels.ts'
import { misreadVerdict } from './misread.ts'
import { isWrong, type Single, singlesOf } from './singles.ts'

export const bill03 = billingRule({
  id: 'BILL-03',
  title: 'The price of a success depends on its model and on nothing else',
  section: '§8.4.1',
  needs: ['active', 'quiescence'],
  explain: `Compares isolated charges (one at a time) over the levels of ${Object.keys(factors).join(', ')} and repetition (a request like an earlier one). It fails if half or more of the requests of one level
do not cost their price while those of another level of that factor do. A price that changes for all requests
at one time is no factor. It passes for the
factors observed at two levels, which it names, and for the observed prompt lengths; longer prompts
were not observed. It lists the models, and the pairs of a model and a form of request, that no success had: plain or
streamed in each format, n of 3 or more, a system prompt.`,
  async decideBy(readings, evidence) {
    const { contract } = evidence
    const all = await exchangesOf(evidence)
    const exchanges = new Map(
      all.map((each) => [keyOf(each.row.runId, each.row.slot, each.row.retry), each]),
    )
    const { alone, beside } = singlesOf(readings, contract)
    const singles = alone.flatMap((single) => {
      const { runId, slot, retry } = single.reading.history
      const exchange = exchanges.get(keyOf(runId, slot[single.row]!, retry[single.row]!))
      return exchange === undefined ? [] : [{ single, exchange }]
    })
    const change = changeInTime(singles)
    if (change !== null) {
      const { before, after, first } = change
      return inconclusive(
        singles.length,
        `the price changed at one time: the first ${before} requests cost their price, and the ${after} after them cost ${credits(first.took)} instead of ${first.price}. BILL-01 and BILL-02 are about that; which factor matters does not show.`,
        [witnessOf(first.reading, first.row, `cost ${credits(first.took)}`)],
      )
    }
    const varied: string[] = []
    const accused: { readonly verdict: Verdict; readonly unexplained: number }[] = []
    for (const [factor, levelOf] of Object.entries({
      ...factors,
      ...repetition(readings, exchanges),
    })) {
      const levels = Map.groupBy(singles, ({ exchange }) => levelOf(exchange))
      if (levels.size < 2) continue
      varied.push(factor)
      const found = levelVerdict(
        [...levels].map(([level, all]) => [level, all.map(({ single }) => single)]),
      )
      if (found !== null) accused.push(found)
    }
    // Of several, the one that leaves the fewest prices unexplained.
    const [cause] = accused.toSorted((a, b) => a.unexplained - b.unexplained)
    if (cause !== undefined) return cause.verdict
    if (varied.length === 0)
      return notObserved(`requests one at a time that differ in ${Object.keys(factors).join(', ')}`)
    const wrong = singles.filter(({ single }) => isWrong(single)).length
    if (wrong === 0 && beside > 0) return misreadVerdict(singles.length + beside, beside)
    return wrong === 0
      ? pass(singles.length, {
          note: `seen at two levels: ${varied.join(', ')}${promptRange(singles.map(({ exchange }) => exchange))}${untested(contract, all)}`,
        })
      : inconclusive(
          singles.length,
          `${counted(wrong, 'request', 'cost')} other than ${wrong === 1 ? 'its' : 'their'} price, and no factor explains which`,
        )
  },
})

/** The pairs that no request tested, as the end of a note; empty where the contract names no models. */
function untested({ models = [], paths }: Contract, exchanges: readonly Exchange[]): string {
  if (models.length === 0) return ''
  const pairs = untestedPairs(models, exchanges, paths)
  return pairs.length === 0 ? '; every pair was tested' : `; no success had: ${pairs.join('; ')}`
}

function promptRange(exchanges: readonly Exchange[]): string {
  const tokens = exchanges.flatMap(({ row }) => row.promptTokens ?? [])
  if (tokens.length === 0) return ''
  const [least, most] = tokens.reduce(
    ([a, b], each) => [Math.min(a, each), Math.max(b, each)],
    [Number.POSITIVE_INFINITY, 0],
  )
  return `; prompts of ${least} to ${most} tokens`
}

/** A failure if one level is charged wrongly and another correctly. Held credits make some wrong charges look right: half is enough. */
function levelVerdict(levels: readonly (readonly [string, readonly Single[]])[]) {
  const wrongIn = (all: readonly Single[]) => all.filter(isWrong).length
  const right = levels.find(([, all]) => wrongIn(all) * 10 <= all.length)
  const wrong = levels.find(([, all]) => wrongIn(all) >= 2 && wrongIn(all) * 2 >= all.length)
  if (right === undefined || wrong === undefined) return null
  const [level, all] = wrong
  const first = all.find(isWrong)!
  const unexplained = wrongIn(levels.flatMap(([name, of]) => (name === level ? [] : of)))
  const verdict: Verdict = fail(
    levels.reduce((sum, [, singles]) => sum + singles.length, 0),
    {
      expected: `the same price with ${level} as with ${right[0]}`,
      observed: `${credits(first.took)} instead of ${first.price}; ${wrongIn(all)} of ${all.length} requests with ${level}`,
      witnesses: [
        witnessOf(first.reading, first.row, `cost ${credits(first.took)}, ${level}`),
        ...right[1]
          .slice(0, 1)
          .map((single) =>
            witnessOf(single.reading, single.row, `cost ${credits(single.took)}, ${right[0]}`),
          ),
      ],
    },
  )
  return { verdict, unexplained: unexplained + all.length - wrongIn(all) }
}
