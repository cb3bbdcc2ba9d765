import type { DearDay } from '../figures/dear-day.ts'
import type { CauseName, MainCause } from '../figures/main-cause.ts'
import type { SingleRequest } from '../figures/single-request.ts'
import type { WhyPart } from '../figures/why.ts'
import { type CauseWords, figuresIn, mainParts, timesOf } from './cause-words.ts'
import { isMoney } from './columns.ts'
import { type Speech, withMinus } from './speech.ts'

/** A dear day in words. */
export interface DearWords {
  /** The day, its amount, what a usual day has, and its hours if most of it came in some and the reason does not say them. */
  readonly headline: string
  /** The day and its amount, as they stand after other words. */
  readonly start: string
  /** Who, and the greatest cause, or two if that is less than half; empty if neither is known. */
  readonly why: string
  /** That nothing explains it, so it is to be asked about; empty if something does. */
  readonly unexplained: string
  /** The figures of the causes, what came from that, and what each cause is of the amount beyond a usual day. */
  readonly details: readonly string[]
  /** The why in a few words for the place beside its bar. */
  readonly lines: readonly string[]
}

/** What is said of a dear day in the state, in the chart and in its table. */
export function dearWords(dear: DearDay, speech: Speech): DearWords {
  const { say } = speech
  const { cause } = dear
  const hours = hoursOf(cause.spans, speech)
  const start = say('state.dear', {
    day: speech.weekday(dear.fromUs),
    amount: speech.amount(dear.unit, dear.amount),
  })
  // Beside an amount with its unit.
  const usual = speech.amounts(dear.unit).about(dear.usual)
  const who = whoOf(cause, speech)
  const parts = mainParts(cause.why)
  const named = dear.request === null ? namedOf(parts, dear) : []
  const causes = parts.map((part) => ({
    ...withModels(part, dear.unit, hours !== '', speech),
    isNamed: named.includes(part),
  }))
  // A number of requests is of these hours.
  const isOfHours = hours !== '' && named.some(({ of }) => of === 'requests')
  const why = reasonOf(
    isOfHours ? (who === '' ? hours : say('dear.at', { names: who, times: hours })) : who,
    dear.request !== null
      ? [singleOf(dear.unit, dear.request, speech)]
      : [
          ...causes.flatMap(({ text, isNamed }) => (isNamed ? text : [])),
          ...spreadOf(cause, causes.length > 0, speech),
        ],
    named.flatMap((part, at) => (isNames(part) ? [at, at + 1] : [])),
    speech,
  )
  const figures = causes
    .map(({ text, figures, isNamed }) => figures || (isNamed ? '' : text))
    .filter(Boolean)
  const isOf = (of: WhyPart['of']) => parts.some((part) => part.of === of)
  const whole = say('dear.usual', { dear: start, usual })
  const saysTime = isOfHours || dear.request !== null
  return {
    headline: say('dear.end', {
      dear: capital(saysTime ? whole : inHours(whole, dear, hours, speech)),
    }),
    start,
    why: beginsWithName(why, named[0]) ? why : capital(why),
    unexplained: isOf('request') ? say('why.unmeasured') : isOf('price') ? say('why.unknown') : '',
    details: [
      figures.reduce(
        (all, next) => (all === '' ? next : say('why.figures', { figures: all, next })),
        '',
      ),
      ...[causeOf(cause, dear, speech), partsOf(dear, speech)],
    ].filter(Boolean),
    lines: linesOf(parts, who, hours, dear, speech),
  }
}

const singleOf = (unit: string, { amount, atUs }: SingleRequest, speech: Speech) =>
  speech.say('why.single', { amount: speech.amount(unit, amount), time: speech.clock(atUs) })

/** A cause with so much of what a day has beyond a usual one is the reason alone. */
const mostOfBeyond = 0.5

/** The greatest cause alone if it is most of what a day has beyond a usual one: the figures have the other. A price that nothing explains is never left out. */
function namedOf(parts: readonly WhyPart[], { amount, usual }: DearDay): readonly WhyPart[] {
  const named = areOfOneModel(parts) ? parts.filter(({ of }) => of !== 'model') : parts
  const beyond = Number(amount) - usual
  return named.filter(
    (part, at) => at === 0 || isUnexplained(part) || named[0]!.amount < mostOfBeyond * beyond,
  )
}

const isUnexplained = ({ of }: WhyPart) => of === 'price' || of === 'request'

export const capital = (text: string) => text.replace(/^\p{L}/u, (letter) => letter.toUpperCase())

/** A day came in some hours if all of it did, as shares are shown, and mostly if so much. */
const [allOfDay, mostOfDay] = [0.9995, 0.5]

/** What is said of a day, and last the hours that it is dear by: an amount behind hours would be read as theirs. */
function inHours(dear: string, { amount, cause }: DearDay, hours: string, { say }: Speech): string {
  if (hours === '') return dear
  const share = Number(cause.amount) / Number(amount)
  const how = share >= allOfDay ? 'all.hours' : share >= mostOfDay ? 'mostly' : 'partly'
  return say(`dear.${how}`, { dear, hours })
}

/** Who made the causes, and these without a stop between them, but for those beside the names of two models. @param apart the places of those that a stop is before */
function reasonOf(
  who: string,
  causes: readonly string[],
  apart: readonly number[],
  { say }: Speech,
): string {
  const why = causes.reduce((all, cause, at) => {
    if (all === '') return cause
    return apart.includes(at)
      ? say('why.figures', { figures: all, next: cause })
      : say('why.also', { causes: all, cause })
  }, '')
  return who === '' || why === '' ? why || who : say('why.of', { who, why })
}

/** Whether a price that nothing explains is of the model that is used in the place of another one: the figures of the price have that, and the reason the price alone. */
const areOfOneModel = (parts: readonly WhyPart[]): boolean => {
  const [price] = parts.flatMap((part) => (part.of === 'price' ? part : []))
  return parts.some(
    (part) =>
      part.of === 'model' &&
      part.instead !== null &&
      price !== undefined &&
      part.model === price.model,
  )
}

/** Whether a text begins with the name of a model, which has no capital of its own. */
const beginsWithName = (text: string, part: WhyPart | undefined) =>
  part !== undefined && 'model' in part && part.model !== null && text.startsWith(part.model)

/** Whether a cause is said by the names of two models. */
const isNames = (part: WhyPart | undefined) => part?.of === 'model' && part.instead !== null

/** A cause with the names of its models, and its figures. */
function withModels(part: WhyPart, unit: string, isOfHours: boolean, speech: Speech): CauseWords {
  const cause = figuresIn(part, unit, isOfHours, speech)
  if (part.of !== 'model' || cause.figures === '') return cause
  return {
    text: isNames(part)
      ? cause.figures
      : speech.say('why.with', { cause: cause.text, figures: cause.figures }),
    figures: '',
  }
}

/** Two figures of the day itself, beside those of a cause, would be read as of the cause. */
function linesOf(
  parts: readonly WhyPart[],
  who: string,
  hours: string,
  dear: DearDay,
  speech: Speech,
): readonly string[] {
  const { say } = speech
  const [first, other] = parts
  // Hours follow who it was: the first two lines are never left out.
  const [by = '', times = ''] = [who, hours].filter(Boolean)
  if (dear.request !== null) return [capital(say('why.single.short')), by, times].filter(Boolean)
  if (first === undefined) {
    const usual = speech.amounts(dear.unit).about(dear.usual)
    return [by, times, say('dear.instead', { usual })].filter(Boolean)
  }
  const said = (part: WhyPart) => figuresIn(part, dear.unit, false, speech)
  // Of two causes, a price alone says before and after.
  const figuresOf = (part: WhyPart | undefined) =>
    part !== undefined && (part.of === 'price' || other === undefined) ? said(part).figures : ''
  return [
    besideBar(first, said(first).text, speech),
    by,
    times,
    figuresOf(first),
    other === undefined ? '' : shortOf(other, said(other).text, speech),
    figuresOf(other),
  ].filter(Boolean)
}

/** A cause in the few words that have room beside a bar. */
const shortOf = (part: WhyPart, text: string, { say }: Speech) =>
  part.of === 'price' && part.model !== null
    ? say('why.price.short', { model: part.model, times: timesOf(part) })
    : text

function besideBar(part: WhyPart, text: string, speech: Speech): string {
  const short = shortOf(part, text, speech)
  return beginsWithName(short, part) ? short : capital(short)
}

/** The key, else an own dimension, else the model; no model that has hours. */
function whoOf({ names, spans }: MainCause, speech: Speech): string {
  const own = names.filter(({ of }) => of !== 'model')
  const [first] = [...own, ...names]
  return first === undefined || (first.of === 'model' && spans.length > 0)
    ? ''
    : namesOf([first], speech)
}

/** The key that most is of, as usual; else that no single key or hour stands out: the last of the causes, or all that is known. */
function spreadOf(
  { names, none, mostly }: MainCause,
  isBesideCauses: boolean,
  speech: Speech,
): readonly string[] {
  const { say } = speech
  if (mostly !== null) return [say('mostly.key', { key: namesOf([mostly], speech) })]
  // An own dimension is somebody.
  const isKey = none.includes('key') && !names.some(({ of }) => of !== 'model')
  const isHour = none.includes('hour')
  if (!isKey && !isHour) return []
  // Beside causes, few words: a key is asked for before an hour.
  if (isBesideCauses) return [say(isKey ? 'none.key' : 'none.hour')]
  return [say(`none.${isKey && isHour ? 'both' : isKey ? 'key' : 'hour'}.stands`)]
}

const hoursOf = (spans: MainCause['spans'], { hours, list }: Speech) =>
  list(spans.map(({ fromUs, toUs }) => hours(fromUs, toUs)))

/** What most of a dear day came from, in one line; empty if it is of no names and no hours. */
function causeOf({ amount, names, spans }: MainCause, dear: DearDay, speech: Speech): string {
  const { say } = speech
  if (names.length === 0 && spans.length === 0) return ''
  const isAll = Number(amount) === Number(dear.amount)
  const of = isMoney(dear.unit) ? ('.cost' as const) : ('' as const)
  const part = isAll
    ? say(`dear.all${of}`)
    : say(`dear.part${of}`, { share: speech.share(Number(amount) / Number(dear.amount)) })
  const hours = hoursOf(spans, speech)
  const times = hours === '' ? '' : say('dear.zone', { times: hours, zone: speech.zone })
  const said = namesOf(names, speech)
  const what = said === '' || times === '' ? said || times : say('dear.at', { names: said, times })
  return say('dear.of', { part, what })
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

/** A part of fewer of the amount beyond a usual day, more or less, is said with all else. */
const leastPart = 0.1

/** What a day used beyond a usual one by a price that nothing explains, decimal text; null if the reason is no price. */
export function priceBeyond({ unit, cause }: DearDay): string | null {
  const part = mainParts(cause.why).find(({ of }) => of === 'price')
  if (part === undefined) return null
  // Of a small amount, its first two digits.
  const small = part.amount < 1 ? 1 - Math.floor(Math.log10(part.amount)) : 0
  return String(Number(part.amount.toFixed(Math.max(isMoney(unit) ? 2 : 0, small))))
}

/**
 * What each cause is of the amount beyond a usual day, what the same requests have less, and all else: a sum that adds up as it is written, to the difference of the two
 * amounts as they are written.
 */
function partsOf({ amount, usual, kind, unit, cause }: DearDay, speech: Speech): string {
  const { say } = speech
  const write = speech.amounts(unit)
  const total = write.beyond(amount, usual)
  const beyond = Number(total)
  const sum = say('why.beyond', {
    amount: speech.amount(unit, total),
    kind: say(`usual.${kind}`),
  })
  // Those that the sum shows, and three of credits at least.
  const shownDigits = total.split('.')[1]?.length ?? 0
  const digits = isMoney(unit)
    ? shownDigits
    : Math.max(shownDigits, 2 - Math.floor(Math.log10(beyond)))
  // Without what is much less, the causes would be more than all that these requests cost.
  const parts = cause.why.filter(({ amount }) => Math.abs(amount) >= leastPart * beyond)
  if (!parts.some(({ amount }) => amount > 0) || beyond <= 0) return sum
  const rounded = parts.map((part) => Number(part.amount.toFixed(digits)))
  const rest = beyond - rounded.reduce((sum, each) => sum + each, 0)
  // What rounding alone leaves is of the greatest cause.
  const isRounding = Math.abs(rest) < (parts.length + 1) * 10 ** -digits
  if (isRounding) rounded[0] = rounded[0]! + rest
  const amounts = isRounding ? rounded : [...rounded, rest]
  const written = write.column(
    amounts.map((each) => each.toFixed(digits)),
    total,
  )
  const sums = amounts.map((each, at) => {
    const part = parts[at]
    const name =
      part === undefined ? 'part.rest' : (`part.${part.of}${each < 0 ? '.less' : ''}` as const)
    return `${say(name)}\u00a0${each > 0 ? '+' : ''}${withMinus(written[at]!)}`
  })
  return say('why.of', { who: sum, why: speech.list(sums) })
}
