import { largest } from '../../user/extremes.ts'
import type { DearDay } from '../figures/dear-day.ts'
import type { CauseName, MainCause } from '../figures/main-cause.ts'
import type { WhyPart } from '../figures/why.ts'
import { isMoney } from './answer.ts'
import type { Speech } from './speech.ts'

/** A dear day in words. */
export interface DearWords {
  /** The day, its amount and what a usual one has. */
  readonly headline: string
  /** Who or when, and the one or two greatest causes; empty if neither is known. */
  readonly why: string
  /** What came from that, what each cause is of the amount beyond a usual day, and what to do. */
  readonly details: readonly string[]
  /** The why in a few words for the place beside its bar. */
  readonly lines: readonly string[]
}

/** What is said of a dear day in the state, in the chart and in its table. */
export function dearWords(dear: DearDay, speech: Speech): DearWords {
  const { say } = speech
  const { cause } = dear
  const said = {
    day: speech.weekday(dear.fromUs),
    amount: speech.amount(dear.unit, dear.amount),
    usual: speech.about(dear.unit, dear.usual),
  }
  const who = whoOf(cause, speech)
  const causes = mainParts(cause.why).map((part) => whyIn(part, speech))
  const isPrice = mainParts(cause.why).some(({ of }) => of === 'price')
  const why = speech.list(causes)
  return {
    headline: say('state.dear', said),
    why: capital(who === '' || why === '' ? who || why : say('why.of', { who, why })),
    details: [
      who === '' ? '' : causeOf(cause, dear, speech),
      partsOf(dear, speech),
      isPrice ? say('why.ask') : '',
    ].filter(Boolean),
    lines: [...causes.slice(0, 1).map(capital), who, say('dear.instead', said)].filter(Boolean),
  }
}

const capital = (text: string) => text.replace(/^\p{L}/u, (letter) => letter.toUpperCase())

/** The key, else an own dimension, else the hours, else the model. */
function whoOf({ names, spans }: MainCause, speech: Speech): string {
  const [first] = names.toSorted((a, b) => Number(a.of === 'model') - Number(b.of === 'model'))
  return first === undefined || (first.of === 'model' && spans.length > 0)
    ? spansIn(spans, speech)
    : namesOf([first], speech)
}

const spansIn = (spans: MainCause['spans'], { say, clock, list }: Speech) =>
  list(spans.map(({ fromUs, toUs }) => say('dear.span', { from: clock(fromUs), to: clock(toUs) })))

/** What most of a dear day came from, in one sentence. */
function causeOf({ amount, names, spans }: MainCause, dear: DearDay, speech: Speech): string {
  const { say } = speech
  const isAll = Number(amount) === Number(dear.amount)
  const part = isAll
    ? say('dear.all')
    : say('dear.part', { amount: speech.amount(dear.unit, amount) })
  const said = { part, names: namesOf(names, speech) }
  if (spans.length === 0) return say('dear.names', said)
  const times = spansIn(spans, speech)
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

/** More causes than that are no answer. */
const mostCauses = 2
/** Another cause is said if it has so much of the greatest one. */
const leastOfFirst = 0.2

/** The causes that the sentence says, the greatest first. */
function mainParts(parts: readonly WhyPart[]): readonly WhyPart[] {
  const least =
    leastOfFirst *
    largest(
      parts.map(({ amount }) => amount),
      0,
    )
  return parts.filter(({ amount }) => amount > 0 && amount >= least).slice(0, mostCauses)
}

function whyIn(part: WhyPart, { say, share }: Speech): string {
  switch (part.of) {
    case 'requests':
      return say('why.requests', { more: Math.max(1, Math.round(part.more)) })
    case 'tokens':
      return say('why.tokens', { times: roundTimes(part.times) })
    case 'model':
      return part.model === null ? say('why.models') : say('why.model', { model: part.model })
    case 'output':
    case 'cache':
      return say(`why.${part.of}`, { share: share(part.share), usual: share(part.usual) })
    case 'request':
      return say('why.request', { times: roundTimes(part.times) })
    case 'price':
      return part.model === null
        ? say('why.token', { times: roundTimes(part.times) })
        : say('why.price', { times: roundTimes(part.times), model: part.model })
  }
}

/** A ratio as it is said: with one digit below 10. */
const roundTimes = (times: number) =>
  times < 10 ? Number(times.toFixed(times < 2 ? 2 : 1)) : Math.round(times)

/** A part that is less of the amount beyond a usual day is no cause of its own. */
const leastPart = 0.1

/** What each cause is of the amount beyond a usual day: a sum that adds up as it is written. */
function partsOf({ amount, usual, unit, cause }: DearDay, speech: Speech): string {
  const { say } = speech
  const beyond = Number(amount) - usual
  const parts = cause.why.filter((part) => Math.abs(part.amount) >= leastPart * beyond)
  if (parts.length === 0) return ''
  // Three digits of the sum at least, so that what is rounded adds up.
  const digits = Math.max(isMoney(unit) ? 2 : 0, 2 - Math.floor(Math.log10(beyond)))
  const rounded = parts.map((part) => Number(part.amount.toFixed(digits)))
  const amounts = [...rounded, beyond - rounded.reduce((sum, each) => sum + each, 0)]
  const written = speech.amounts(unit).column(
    [...amounts, beyond].map((each) => each.toFixed(digits)),
    null,
  )
  const names = [...parts.map(({ of }) => say(`part.${of}`)), say('part.rest')]
  const sums = names
    .map((name, at) => ({ name, written: written[at]!, size: amounts[at]! }))
    .filter(({ written }) => /[1-9]/.test(written))
    .map(({ name, written, size }) => `${name} ${size > 0 ? '+' : ''}${written}`)
  return say('why.parts', {
    amount: written.at(-1)!,
    parts: speech.list(sums),
  })
}
