import { roundTimes } from '../figures/cause.ts'
import type { DearDay } from '../figures/dear-day.ts'
import type { CauseName, MainCause } from '../figures/main-cause.ts'
import type { Speech } from './speech.ts'

/** A dear day in words. */
export interface DearWords {
  /** The day, its amount, how many times a usual day, and who or when most of that was: one sentence. */
  readonly headline: string
  /** How much came from that, and why: what multiplies to the times. A line each, if there are any. */
  readonly details: readonly string[]
  /** The same in a few words for the place beside its bar. */
  readonly lines: readonly string[]
}

/** What is said of a dear day in the state, in the chart and in its table. */
export function dearWords(dear: DearDay, speech: Speech): DearWords {
  const { say } = speech
  const { cause } = dear
  const said = {
    day: speech.weekday(dear.fromUs),
    amount: speech.amount(dear.unit, dear.amount),
    times: roundTimes(dear.times),
  }
  const factors = factorsOf(dear, speech)
  const why = factors.length === 0 ? '' : say('why.line', { factors: factors.join(' × ') })
  const times = say('dear.times', { day: speech.shortWeekday(dear.fromUs), times: said.times })
  if (cause === null)
    return {
      headline: say('state.dear', said),
      details: [why].filter(Boolean),
      lines: [times, ...factors.slice(0, 1)],
    }
  const [first] = cause.names.toSorted(
    (a, b) => Number(a.of === 'model') - Number(b.of === 'model'),
  )
  const hours = spansOf(cause, speech)
  const [span, ...others] = cause.spans
  const headline =
    first === undefined
      ? say('state.dearAt', { ...said, hours })
      : say('state.dearBy', { ...said, names: namesOf([first], speech) })
  return {
    headline,
    details: [causeOf(cause, dear, speech), why].filter(Boolean),
    lines: [
      times,
      ...(first === undefined ? [] : [namesOf([first], speech)]),
      ...cause.names
        .filter((each) => each !== first && each.of === 'model')
        .map(({ name }) => name),
      ...(span !== undefined && others.length === 0
        ? [`${speech.clock(span.fromUs)} – ${speech.clock(span.toUs)}`]
        : []),
      // Hours alone say when, and not what.
      ...(first === undefined ? factors.slice(0, 1) : []),
    ],
  }
}

const spansOf = ({ spans }: MainCause, { say, clock, list }: Speech) =>
  list(spans.map(({ fromUs, toUs }) => say('dear.span', { from: clock(fromUs), to: clock(toUs) })))

/** What most of a dear day came from, in one sentence. */
function causeOf(cause: MainCause, dear: DearDay, speech: Speech): string {
  const { say } = speech
  const { amount, names, spans } = cause
  const isAll = Number(amount) === Number(dear.amount)
  const part = isAll
    ? say('dear.all')
    : say('dear.part', { amount: speech.amount(dear.unit, amount) })
  const said = { part, names: namesOf(names, speech) }
  if (spans.length === 0) return say('dear.names', said)
  const times = spansOf(cause, speech)
  return say(names.length === 0 ? 'dear.at' : 'dear.namesAt', { ...said, times })
}

/** A key, own dimensions, and last a model. */
function namesOf(names: readonly CauseName[], speech: Speech): string {
  const { say } = speech
  const said = ({ of, name, tag }: CauseName) =>
    say(`cause.${of}`, { name, ...(tag !== null && { tag: speech.tag(tag) }) })
  const model = names.find(({ of }) => of === 'model')
  const others = names.filter((each) => each !== model).map(said)
  if (model === undefined) return speech.list(others)
  return others.length === 0
    ? said(model)
    : say('cause.with', { names: speech.list(others), model: model.name })
}

/** A figure is a cause if it differs so many times from the usual one. */
const leastTimes = 1.1
/** The tokens of a model are said if they cost so many times more than those of all. */
const leastApart = 1.05
/** If the causes multiply to an amount that differs more from that of the day, all figures are said. */
const mostRounding = 1.05

/** What multiplies to the times of a usual day, the most first: requests, tokens in each, and what a token cost. */
function factorsOf({ why, times }: DearDay, { say }: Speech): readonly string[] {
  const { requests, tokensTimes, priceTimes, model, own } = why
  const factors = [
    requests !== null && {
      ratio: requests.count / requests.usual,
      text: say('why.requests', {
        times: roundFactor(requests.count / requests.usual),
        ...{ requests: requests.count, usual: roundCount(requests.usual) },
      }),
    },
    tokensTimes !== null && {
      ratio: tokensTimes,
      text: say('why.tokens', { times: roundFactor(tokensTimes) }),
    },
    priceTimes !== null && {
      ratio: priceTimes,
      text: say(wordOfPrice(why), {
        times: roundFactor(priceTimes),
        ...(model !== null && { model }),
        ...(own !== null && { model: own.model, own: roundFactor(own.times) }),
      }),
    },
  ].filter((each) => each !== false)
  const far = (ratio: number) => Math.max(ratio, 1 / ratio)
  const listed = factors.filter(({ ratio }) => far(ratio) >= leastTimes)
  const off = listed.reduce((product, { ratio }) => product * ratio, 1) / times
  const said = far(off) > mostRounding ? factors : listed
  return said.toSorted((a, b) => b.ratio - a.ratio).map(({ text }) => text)
}

function wordOfPrice({ model, own, tokensTimes, priceTimes }: DearDay['why']) {
  if (model !== null) return priceTimes! < 1 ? 'why.cheaper' : 'why.dearer'
  if (tokensTimes === null) return 'why.request'
  // Of one model alone, both are one figure; a model whose own tokens rose by less is not all of the cause.
  return own !== null && own.times > leastApart * priceTimes! ? 'why.priceOf' : 'why.price'
}

/** A factor with so many digits that the factors still multiply to the claim. */
const roundFactor = (times: number) =>
  times < 2 ? Number(times.toPrecision(3)) : Number(times.toFixed(times < 20 ? 1 : 0))

/** A mean of counts, with as many digits as a ratio of it needs. */
const roundCount = (count: number) => Number(count.toFixed(count < 2 ? 2 : count < 20 ? 1 : 0))
