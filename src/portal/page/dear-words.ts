import { hourUs } from '../../user/durations.ts'
import type { DearDay } from '../figures/dear-day.ts'
import type { CauseName, MainCause } from '../figures/main-cause.ts'
import type { SingleRequest } from '../figures/single-request.ts'
import type { WhyPart } from '../figures/why.ts'
import { type CauseWords, figuresIn, mainParts } from './cause-words.ts'
import { isMoney } from './columns.ts'
import { inOnePiece, type Speech, withMinus } from './speech.ts'

/** A dear day in words. */
export interface DearWords {
  /** The day, its amount, what a usual day has, and its hours if most of it came in some. */
  readonly headline: string
  /** The day and its amount, as they stand after other words. */
  readonly start: string
  /** The greatest cause, or two if that is not most of it, and who; empty if neither is known. */
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
    ...causeIn(part, parts, dear, speech),
    isNamed: named.includes(part),
  }))
  const why =
    dear.request === null
      ? reasonOf(
          causes.flatMap(({ text, isNamed }) => (isNamed ? text : [])),
          spreadOf(cause, causes.length > 0, speech),
          who,
          speech,
        )
      : byOf(singleOf(dear.unit, dear.request, speech), who, speech)
  const figures = causes
    .map(({ text, figures, isNamed }) => figures || (isNamed ? '' : text))
    .filter(Boolean)
  const isOf = (of: WhyPart['of']) => parts.some((part) => part.of === of)
  const whole = say('dear.usual', { dear: start, usual })
  return {
    headline: say('dear.end', {
      dear: capital(dear.request === null ? inHours(whole, dear, hours, speech) : whole),
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
const mostOfBeyond = 0.6

/** The greatest cause alone if it is most of what a day has beyond a usual one: the figures have the other. A price that nothing explains is never left out. */
function namedOf(parts: readonly WhyPart[], { amount, usual }: DearDay): readonly WhyPart[] {
  const beyond = Number(amount) - usual
  return parts.filter(
    (part, at) => at === 0 || isUnexplained(part) || parts[0]!.amount < mostOfBeyond * beyond,
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

/** The causes, and behind them who they are of; who, and that nothing else stands out, if no cause is known. */
function reasonOf(causes: readonly string[], spread: string, who: string, speech: Speech): string {
  const { say } = speech
  if (causes.length === 0)
    return who === '' || spread === '' ? spread || who : say('why.of', { who, why: spread })
  const why = causes.reduce((all, cause) => say('why.also', { causes: all, cause }))
  return byOf(spread === '' ? why : say('why.spread', { causes: why, spread }), who, speech)
}

/** A name of up to so many letters is in one line. */
const mostOfOneLine = 24

const byOf = (why: string, who: string, { say }: Speech) =>
  who === '' ? why : say('why.by', { why, who: who.length > mostOfOneLine ? who : inOnePiece(who) })

/** Whether a price that nothing explains is of the model that is used in the place of another one: its name stands once. */
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

/** A cause as the sentence says it, with the name of a dearer model, and its figures. */
function causeIn(
  part: WhyPart,
  parts: readonly WhyPart[],
  { unit, cause }: DearDay,
  speech: Speech,
): CauseWords {
  const words = figuresIn(part, unit, howManyHours(cause.spans), speech)
  if (part.of !== 'model' || part.model === null || areOfOneModel(parts)) return words
  return {
    text: speech.say('why.model', { model: part.model }),
    figures: part.instead === null ? '' : words.figures,
  }
}

const howManyHours = (spans: MainCause['spans']) =>
  spans.reduce((sum, { fromUs, toUs }) => sum + (toUs - fromUs) / hourUs, 0)

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
  const said = (part: WhyPart) => figuresIn(part, dear.unit, 0, speech)
  // Of two causes, a price alone says before and after.
  const figuresOf = (part: WhyPart | undefined) =>
    part !== undefined && (part.of === 'price' || other === undefined) ? said(part).figures : ''
  return [
    besideBar(first, said(first).text),
    by,
    times,
    figuresOf(first),
    other === undefined ? '' : said(other).text,
    figuresOf(other),
  ].filter(Boolean)
}

const besideBar = (part: WhyPart, text: string) =>
  beginsWithName(text, part) ? text : capital(text)

/** The key, else an own dimension, else the model; no model that has hours. */
function whoOf({ names, spans }: MainCause, speech: Speech): string {
  const own = names.filter(({ of }) => of !== 'model')
  const [first] = [...own, ...names]
  return first === undefined || (first.of === 'model' && spans.length > 0)
    ? ''
    : namesOf([first], speech)
}

/** The key that most is of, as usual; else that no single key or hour stands out. It stands behind the causes, or is all that is known. Empty if a key and an hour stand out. */
function spreadOf(
  { names, none, mostly }: MainCause,
  isBesideCauses: boolean,
  speech: Speech,
): string {
  const { say } = speech
  if (mostly !== null) return say('mostly.key', { key: namesOf([mostly], speech) })
  // An own dimension is somebody.
  const isKey = none.includes('key') && !names.some(({ of }) => of !== 'model')
  const isHour = none.includes('hour')
  if (!isKey && !isHour) return ''
  // Beside causes, few words: a key is asked for before an hour.
  if (isBesideCauses) return say(isKey ? 'none.key' : 'none.hour')
  return say(`none.${isKey && isHour ? 'both' : isKey ? 'key' : 'hour'}.stands`)
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
