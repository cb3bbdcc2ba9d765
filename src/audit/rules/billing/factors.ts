import { bandsAt, type Contract, type Model } from '../../../contract/contract.ts'
import { billingRule, credits, witnessOf } from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { type Exchange, exchangesOf } from '../../evidence/exchange.ts'
import { hasSystemPrompt, untestedPairs } from '../../evidence/untested-pairs.ts'
import { fail, inconclusive, notObserved, pass, type Verdict } from '../../verdict.ts'
import { misread, misreadVerdict } from './misread.ts'
import { singleCharge } from './prices.ts'
import { type SeenStretch, undisturbedStretches } from './stretches.ts'

type Single = ReturnType<typeof singleCharge>[number]

const isRight = ({ took, price }: Single) => took === price

type Levels = Readonly<Record<string, (exchange: Exchange) => string>>

/** Factors that must not affect the price, and the level of a request in each. */
const factors: Levels = {
  format: ({ row }) => row.endpoint,
  stream: ({ row }) => (row.streamed === 1 ? 'streamed' : 'plain'),
  n: (exchange) => `n ${exchange.requestField('n') ?? 1}`,
  max_tokens: (exchange) => `max_tokens ${exchange.requestField('max_tokens') ?? 'left out'}`,
  'prompt length': ({ row }) =>
    (row.requestBody?.length ?? 0) > 1000 ? 'a long prompt' : 'a short prompt',
  user: (exchange) => (exchange.requestField('user') === undefined ? 'no user' : 'a user'),
  'system prompt': (exchange) =>
    hasSystemPrompt(exchange) ? 'a system prompt' : 'no system prompt',
}

export const bill03 = billingRule({
  id: 'BILL-03',
  title: 'The price of a success depends on its model and on nothing else',
  section: '§8.4.1',
  severity: 'must',
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
    if (varied.length === 0) {
      return notObserved(`requests one at a time that differ in ${Object.keys(factors).join(', ')}`)
    }
    const wrong = singles.filter(({ single }) => single.took !== single.price).length
    if (wrong === 0 && beside > 0) return misreadVerdict(singles.length + beside, beside)
    return wrong === 0
      ? pass(singles.length, {
          note: `seen at two levels: ${varied.join(', ')}${promptRange(singles.map(({ exchange }) => exchange))}${untested(contract.models ?? [], all)}`,
        })
      : inconclusive(
          singles.length,
          `${wrong} requests cost other than their price, and no factor explains which`,
        )
  },
})

/** Isolated charges, and how many more have a wrong price only beside a value that is off (`misread`). */
function singlesOf(readings: readonly BalanceReading[], contract: Contract) {
  const off = misread(readings)
  const isOff = ({ stretch }: SeenStretch) => off.has(stretch)
  const all = undisturbedStretches(readings, contract)
  return {
    alone: all.filter((seen) => !isOff(seen)).flatMap(singleCharge),
    beside: all
      .filter(isOff)
      .flatMap(singleCharge)
      .filter((single) => !isRight(single)).length,
  }
}

/** Whether a request is the same as an earlier one of its account. */
function repetition(
  readings: readonly BalanceReading[],
  exchanges: ReadonlyMap<string, Exchange>,
): Levels {
  const repeats = new Set<Exchange>()
  for (const { history } of readings) {
    const first = new Set<string>()
    for (let row = 0; row < history.size; row++) {
      const exchange = exchanges.get(keyOf(history.runId, history.slot[row]!, history.retry[row]!))
      if (exchange === undefined || exchange.row.requestBody === null) continue
      const name = `${exchange.row.path} ${exchange.row.requestBody}`
      if (first.has(name)) repeats.add(exchange)
      first.add(name)
    }
  }
  return {
    repetition: (exchange) =>
      repeats.has(exchange) ? 'a request like an earlier one' : 'a first request',
  }
}

/** So many like requests, right before a time and wrong after it, are no work of a factor. */
const manyAlike = 6

interface Seen {
  readonly single: Single
  readonly exchange: Exchange
}

/**
 * A time in each run before which every request costs its price, and from which none does, though some are like requests before; null
 * without one. If only a few are, and a level of a factor is missing after the time, the factor may be the cause.
 */
function changeInTime(singles: readonly Seen[]) {
  let before: readonly Seen[] = []
  let after: readonly Seen[] = []
  for (const ofRun of Map.groupBy(singles, (each) => each.single.reading.history.runId).values()) {
    const inTime = ofRun.toSorted((a, b) => calledUs(a.single) - calledUs(b.single))
    const at = inTime.findIndex(({ single }) => !isRight(single))
    before = before.concat(at < 0 ? inTime : inTime.slice(0, at))
    if (at >= 0) after = after.concat(inTime.slice(at))
  }
  if (before.length < 3 || after.some(({ single }) => isRight(single))) return null
  const levels = Object.values(factors)
  const isMissing = (levelOf: (exchange: Exchange) => string) => {
    const later = new Set(after.map(({ exchange }) => levelOf(exchange)))
    return before.some(({ exchange }) => !later.has(levelOf(exchange)))
  }
  const kindOf = ({ exchange }: Seen) =>
    JSON.stringify([exchange.row.model, ...levels.map((levelOf) => levelOf(exchange))])
  const known = new Set(before.map(kindOf))
  const alike = after.filter((each) => known.has(kindOf(each)))
  return alike.length < (levels.some(isMissing) ? manyAlike : 3)
    ? null
    : { before: before.length, after: after.length, first: after[0]!.single }
}

const calledUs = ({ reading, row }: Single) => reading.history.callUs[row]!

/** The pairs that no request tested, as the end of a note. */
function untested(models: readonly Model[], exchanges: readonly Exchange[]): string {
  const pairs = untestedPairs(models, exchanges)
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

function keyOf(runId: string, slot: number, retry: number): string {
  return `${runId}/${slot}/${retry}`
}

/**
 * A failure if one level is charged wrongly and another correctly; otherwise null. If headers show held credits, some
 * wrong charges look right, so half of a level is enough.
 */
function levelVerdict(levels: readonly (readonly [string, readonly Single[]])[]) {
  const wrongIn = (all: readonly Single[]) => all.filter((single) => !isRight(single)).length
  const right = levels.find(([, all]) => wrongIn(all) * 10 <= all.length)
  const wrong = levels.find(([, all]) => wrongIn(all) >= 2 && wrongIn(all) * 2 >= all.length)
  if (right === undefined || wrong === undefined) return null
  const [level, all] = wrong
  const first = all.find((single) => !isRight(single))!
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

/** Whether, in each run with wrong prices, one time separates them from the right ones. */
function splitsByTime(singles: readonly Single[]): boolean {
  const runs = Map.groupBy(singles, ({ reading }) => reading.history.runId)
  return [...runs.values()].every((all) => {
    const inTime = all.toSorted((a, b) => calledUs(a) - calledUs(b))
    const changes = inTime.filter(
      (each, at) => at > 0 && isRight(each) !== isRight(inTime[at - 1]!),
    )
    return changes.length <= 1
  })
}

export const bill04 = billingRule({
  id: 'BILL-04',
  title: 'The price does not depend on the balance',
  section: '§8.4.1',
  severity: 'must',
  needs: ['active', 'quiescence'],
  explain: `Compares isolated charges over the bands of the balance. Some real gateways trust accounts
with large balances and do not charge them.`,
  decideBy(readings, { contract }) {
    const { alone, beside } = singlesOf(readings, contract)
    const singles = alone.filter((single) => !Number.isNaN(balanceOf(single)))
    const bandOf = ({ reading, row, price }: Single) =>
      bandsAt(contract, reading.history.value[row]! + price).at(-1)?.name ?? 'no band'
    const bands = Map.groupBy(singles, bandOf)
    if (bands.size < 2) {
      return notObserved('requests one at a time on balances in two bands')
    }
    const verdict = splitsByBalance(singles, contract)
    if (verdict === null && beside > 0) return misreadVerdict(singles.length + beside, beside)
    return (
      verdict ??
      (singles.every(({ took, price }) => took === price)
        ? pass(singles.length, { note: `seen in ${[...bands.keys()].join(', ')}` })
        : inconclusive(
            singles.length,
            'some requests cost other than their price, and the band does not explain which',
          ))
    )
  },
})

const balanceOf = ({ reading, row, price }: Single) => reading.history.value[row]! + price

/**
 * A failure if one balance separates requests that cost their price from those that mostly did not. If headers show
 * held credits, the first of the latter may look right. A balance only falls, so a price that changed at one time looks the
 * same: then the split fails only if it is at an edge of a band.
 */
function splitsByBalance(singles: readonly Single[], contract: Contract): Verdict | null {
  const isWrong = ({ took, price }: Single) => took !== price
  const rising = singles.toSorted((a, b) => balanceOf(a) - balanceOf(b))
  for (const sorted of [rising, rising.toReversed()]) {
    const first = sorted.findIndex(isWrong)
    const far = sorted.slice(first)
    const wrong = far.filter(isWrong)
    if (first < 2 || wrong.length < 2 || wrong.length * 2 < far.length) continue
    const [shown, near] = [wrong[0]!, sorted[first - 1]!]
    const bandOf = (single: Single) => bandsAt(contract, balanceOf(single)).at(-1)?.name
    if (bandOf(shown) === bandOf(near) && splitsByTime(singles))
      return inconclusive(
        singles.length,
        `${wrong.length} requests cost other than their price, all of them on one side of a balance of ${balanceOf(near)}, which is no edge of a band, and all of them on one side of a time: a price that changed then looks the same`,
      )
    return fail(singles.length, {
      expected: `the same price at a balance of ${balanceOf(shown)} as at ${balanceOf(near)}`,
      observed: `${wrong.length} of ${far.length} requests on that side cost other than their price`,
      witnesses: [
        witnessOf(
          shown.reading,
          shown.row,
          `cost ${credits(shown.took)} instead of ${shown.price}`,
        ),
        witnessOf(near.reading, near.row, `cost ${credits(near.took)}`),
      ],
    })
  }
  return null
}
