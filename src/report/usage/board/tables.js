// @ts-check
// The cards and tables of a choice.
import { drawTable } from './drawn-table.js'
import { isTwice, offsetAt, offsetMark, secondPart } from './offsets.js'
import { speechOf, zoned } from './speech.js'
import { chosen, dimensions, groups, hourOf, item, sharesOf, total } from './sums.js'

/** @import { Dimension } from './cells.ts' */
/** @import { BoardData } from './data.ts' */
/** @import { Offsets } from './offsets.js' */
/** @import { BoardSpeech, Card, Choice, ListedRequest, Metric, RequestPage, RequestSort, Sums, TableCell, TableOfNames, View } from './types.ts' */
/** @import { BoardWord } from './words.ts' */

/** @param {string} text */
const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1)

/**
 * The metric's name in a title.
 *
 * @param {BoardData} data
 * @param {Metric} metric
 */
export function titleOf(data, metric) {
  const { say } = speechOf(data)
  const { unit, money } = data
  if (metric === 'credits') return say('use', { unit, Unit: capital(unit) })
  return metric === 'money' ? say('money', money ?? {}) : say(metric)
}

/**
 * The unit of the values of a metric, if they are amounts.
 *
 * @param {BoardData} data
 * @param {Metric} metric
 * @returns {Pick<View, 'unit' | 'perCredit'>}
 */
export function unitOf({ unit, money }, metric) {
  if (metric === 'credits') return { unit }
  return metric === 'money' && money !== null
    ? { unit: money.currency, perCredit: money.perCredit }
    : {}
}

/** @type {(part: number, whole: number) => number | null} */
export const share = (part, whole) => (whole === 0 ? null : (100 * part) / whole)

/**
 * The cards of some sums.
 *
 * @param {BoardData} data
 * @param {Sums} sums
 * @returns {readonly Card[]}
 */
export function cardsOf(data, { requests, failed, unknown, credits, input, output }) {
  const speech = speechOf(data)
  const { say, show, cents } = speech
  const known = unknown > 0 ? say('unknownCost', { requests: unknown }) : ''
  const tokens = input === null && output === null ? null : (input ?? 0) + (output ?? 0)
  /** @type {(value: number | null, show: (value: number) => string) => string} */
  const amount = (value, show) => (value === null ? say('unmeasured') : show(value))
  const { money } = data
  const cost = credits === null || money === null ? null : credits * money.perCredit
  const failing = share(failed, requests ?? 0)
  /** @type {readonly Card[]} */
  const cards = [
    ['credits', titleOf(data, 'credits'), amount(credits, speech.of('credits').show), known],
    ['money', titleOf(data, 'money'), amount(cost, cents), ''],
    ['requests', say('requests'), amount(requests, show), ''],
    [
      'tokens',
      say('tokens'),
      amount(tokens, show),
      tokens === null ? '' : say('inOut', { input: show(input), output: show(output) }),
    ],
    ['failed', say('failed'), failing === null ? '–' : say('percent', { share: failing }), ''],
  ]
  return cards.filter(
    ([name]) => (name !== 'credits' && name !== 'money') || data.metrics.includes(name),
  )
}

/** The most rows of a table of names. */
const mostRows = 30

/** @type {Readonly<Record<Dimension, BoardWord>>} */
const titles = { model: 'byModel', key: 'byKey', endpoint: 'byEndpoint' }

/**
 * Each dimension with more than one name, the greatest first.
 *
 * @param {BoardData} data
 * @param {readonly number[]} places
 * @param {Choice} choice
 * @returns {readonly TableOfNames[]}
 */
export function tablesOf(data, places, { metric }) {
  const speech = speechOf(data)
  const { say, show } = speech
  return dimensions
    .map((by) => ({ by, all: groups(data, places, by, metric) }))
    .filter(({ by, all }) => all.length > 1 || (data.names[by].length > 1 && all.length > 0))
    .map(({ by, all }) => {
      const hasCredits = data.metrics.includes('credits')
      const rows = all.slice(0, mostRows).map(({ name, places: some }) => {
        const sums = total(data, some)
        return [
          speech.nameOf(name, by),
          ...(hasCredits ? [speech.of('credits').show(sums.credits)] : []),
          ...[sums.requests, sums.input, sums.output, sums.failed],
        ]
      })
      const whole = say(titles[by])
      const [shown, of] = [show(mostRows), show(all.length)]
      const title = all.length > mostRows ? say('some', { title: whole, shown, all: of }) : whole
      const heads = [
        say(by),
        ...(hasCredits ? [say('unitHead', { unit: data.unit })] : []),
        ...[say('requestsHead'), say('inputTokens'), say('outputTokens'), say('failedHead')],
      ]
      return { by, title, tree: drawTable(speech, title, heads, rows) }
    })
}

/**
 * An amount that says its unit, or a number of requests.
 *
 * @param {BoardData} data
 * @param {Metric} metric
 * @param {number | null} sum
 */
export function amountOf(data, metric, sum) {
  const speech = speechOf(data)
  if (sum === null || (data.isMoney && metric !== 'requests')) return speech.of(metric).show(sum)
  return metric === 'requests'
    ? speech.say('count', { requests: sum })
    : speech.say('amount', { sum })
}

/**
 * The name that used most of a choice, its amount and share, and the names that follow, each with its share.
 *
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {Dimension} by
 * @returns {readonly (readonly string[])[]} lines of one part or two; empty if nothing was used
 */
export function mostOf(data, choice, by) {
  const speech = speechOf(data)
  const metric = data.metrics.includes('credits') ? 'credits' : 'requests'
  const used = groups(data, chosen(data, choice), by, metric).filter(({ sum }) => sum > 0)
  const shares = sharesOf(used.map(({ sum }) => sum))
  const lines = used.slice(0, 3).flatMap(({ name, sum }, at) => {
    const said = speech.nameOf(name, by)
    const part = speech.part(item(shares, at))
    return at === 0 ? [[said], [`${amountOf(data, metric, sum)} · ${part}`]] : [[said, part]]
  })
  const rest = shares.slice(3).reduce((sum, each) => sum + each, 0)
  if (rest > 0) lines.push([speech.say('others'), speech.part(rest)])
  return lines
}

/** A list of requests is of this many hours at most: 31 days, of which one may have 25. */
export const mostListed = 31 * 24 + 1

/**
 * The heads of a table of single requests.
 *
 * @param {BoardData} data
 */
export function requestHeads(data) {
  const { say } = speechOf(data)
  /** @type {readonly BoardWord[]} */
  const heads = ['time', 'requestId', 'model', 'key', 'endpoint', 'status', 'duration']
  return [
    ...[...heads, /** @type {const} */ ('inputTokens'), /** @type {const} */ ('outputTokens')].map(
      (head) => say(head),
    ),
    say('unitHead', { unit: data.unit }),
  ]
}

/**
 * What a list may be sorted by, and its words.
 *
 * @param {BoardData} data
 * @returns {readonly (readonly [RequestSort, string])[]}
 */
export function requestSorts(data) {
  const { say } = speechOf(data)
  return [
    ['time', say('time')],
    ...(data.metrics.includes('credits')
      ? [/** @type {const} */ (['amount', say('unitHead', { unit: data.unit })])]
      : []),
    ['tokens', say('tokens')],
    ...(data.timed ? [/** @type {const} */ (['duration', say('duration')])] : []),
  ]
}

/**
 * The cells of a request. In a list of an hour, its time is the time of day. Its amount has all digits, since it is what a customer asks about.
 *
 * @param {BoardData} data
 * @param {Choice} choice
 * @param {ListedRequest} request
 * @returns {readonly TableCell[]}
 */
export function requestCells(data, choice, request) {
  const speech = speechOf(data)
  const { id, hour, clock, names, status, duration, input, output, amount } = request
  const { locale, isMoney, unit: currency } = data
  const mark = offsetMark(data, hour)
  const time = zoned(locale, { timeStyle: 'medium' })
  const cost = new Intl.NumberFormat(locale, {
    ...(isMoney && { style: 'currency', currency }),
    maximumFractionDigits: 18,
  })
  const day = choice.to - choice.from > 24 ? `${speech.tick('day', hour, 24)}, ` : ''
  return [
    ...[`${day}${time.format(Date.parse(`1970-01-01T${clock}Z`))}${mark}`, id],
    ...dimensions.map((name, at) => speech.nameOf(item(names, at), name)),
    ...[status, duration, input, output, amount === null ? null : cost.format(amount)],
  ]
}

/**
 * What a request of the usage API cost in the unit of a board; null in another unit. Its costs have credits at their price, too.
 *
 * @param {{ readonly credits: string | null, readonly cost: readonly { readonly currency: string, readonly value: string }[] }} request
 * @param {string} unit
 * @returns {number | null}
 */
export function amountIn({ credits, cost }, unit) {
  const own =
    credits === null
      ? cost.find(({ currency }) => currency === unit)?.value
      : unit === 'credits' && credits
  return own ? Number(own) : null
}

/**
 * The local hour of such a request.
 *
 * @param {Offsets} data
 * @param {{ readonly at: string }} request
 */
export const hourIn = (data, { at }) => {
  const hour = hourOf(at.slice(0, 10)) + Number(at.slice(11, 13))
  const second = hour + secondPart
  return isTwice(data, hour) && at.endsWith(offsetAt(data, second)) ? second : hour
}

/**
 * How such a request ended, with the status of an answer that is no success.
 *
 * @template {string} End
 * @param {{ readonly outcome: End, readonly status: number | null }} request
 * @param {Readonly<Record<End, string>>} words
 */
export const endIn = ({ outcome, status }, words) =>
  outcome === 'ok' || status === null ? words[outcome] : `${words[outcome]} (${status})`

/**
 * The name of such a request in a dimension; where the value of a tag stands in place of keys, that value.
 *
 * @param {Readonly<Record<Dimension, string | null>> & { readonly tags: readonly { readonly name: string, readonly value: string }[] }} request
 * @param {Dimension} name
 * @param {string | false | null | undefined} tag
 * @returns {string}
 */
export const nameIn = (request, name, tag) =>
  (name === 'key' && tag ? request.tags.find((each) => each.name === tag)?.value : request[name]) ??
  '(unknown)'
