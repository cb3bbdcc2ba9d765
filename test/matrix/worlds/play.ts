import type { AttemptRow } from '../../../src/attempt/columns.ts'
import type { BodyRow, TemplateRow } from '../../../src/attempt/evidence.ts'
import { flags } from '../../../src/attempt/flags.ts'
import { columnsOf } from '../../audit/prices/columns.ts'
import { attempt } from '../../report/attempts.ts'
import { type Amount, amount, rounded, sumOf, text } from './amounts.ts'
import { answeredBy, outputTokens, promptTokens } from './asks.ts'
import { costOf } from './cost.ts'
import type { Place } from './fault.ts'
import { grantTaken } from './fault-ends.ts'
import { answerText, isMute, usageOf } from './shapes.ts'
import { sumOfBoth } from './terms.ts'
import type { World } from './world.ts'

type Asked = World['asks'][number]

/** What a book takes for a request, or without one. Positive: the customer pays. */
export interface Posting {
  readonly at: number
  readonly account: string
  readonly amount: Amount
  /** Whether the other value of the balance misses it. */
  readonly isOfOne?: boolean
}

/** A value that the service showed of a balance, with what had been taken by then, exactly. */
export interface Shown {
  readonly from: number
  readonly until: number
  readonly account: string
  readonly taken: Amount
  /** The same of the other value, if there is one. */
  readonly otherTaken: Amount | null
  /** What came in between: a payment, or a new period. Values with different ones cannot be compared. */
  readonly extra: Amount
}

/** What came of a world: as a run would have stored it, and what its label needs. */
export interface Played {
  readonly rows: readonly AttemptRow[]
  readonly bodies: readonly BodyRow[]
  readonly templates: readonly TemplateRow[]
  readonly log: string
  readonly amounts: readonly Readonly<Record<Place, Amount> & { right: Amount }>[]
  readonly postings: readonly Posting[]
  readonly honest: readonly Posting[]
  readonly shown: readonly Shown[]
}

/** Decimals of a service that shows few. */
const fewDigits = 6
const most = 12

export function play(world: World): Played {
  const { terms, asks, fault, conduct } = world
  const amounts = asks.map((ask) => {
    const right = costOf(terms, ask)
    const at = (place: Place) =>
      ask.isStruck && fault?.twist !== undefined && fault.places.includes(place)
        ? costOf(terms, ask, fault.twist)
        : right
    return { right, answer: at('answer'), log: at('log'), balance: at('balance') }
  })
  const honest = asks.map((ask, nth) => postingOf(ask, amounts[nth]!.right))
  const postings = asks.flatMap((ask, nth) => postingsOf(world, ask, amounts[nth]!.balance))
  const sheet = new Sheet(world, postings)
  const show = (of: Amount) => {
    const digits =
      conduct.has('short costs') && terms.digits > fewDigits
        ? fewDigits
        : Math.min(most, terms.digits)
    const exact = text(rounded(of, terms.digits === most ? digits : most, 'half_even'))
    return conduct.has('float costs') && digits !== fewDigits && exact.includes('.')
      ? Number(exact).toPrecision(17)
      : exact
  }
  sheet.reads(0)
  for (const [nth, ask] of asks.entries()) {
    sheet.ask(ask, show(amounts[nth]!.answer))
    if ((nth + 1) % world.readEvery === 0) sheet.reads(ask.at + ask.seconds + 0.1)
  }
  const last = asks.at(-1)
  sheet.reads((last === undefined ? 0 : last.at + last.seconds) + (terms.balance?.withinS ?? 0) + 1)
  const log = asks.flatMap((ask, nth) => rowsOf(world, ask, show(amounts[nth]!.log)))
  return {
    ...{ amounts, postings, honest, shown: sheet.shown },
    ...{ rows: sheet.rows, bodies: sheet.bodies, templates: sheet.templates },
    log: conduct.has('list of rows') ? `[${log.join(',')}]` : log.join('\n'),
  }
}

/** Times are compared as rows have them: the sums of seconds that name one moment may differ by a rounding. */
const microsecond = (seconds: number) => Math.round(seconds * 1e6)

const postingOf = ({ at, seconds, account }: Asked, of: Amount): Posting => ({
  ...{ at: at + seconds, account, amount: of },
})

function postingsOf({ fault }: World, ask: Asked, of: Amount): readonly Posting[] {
  const usual = postingOf(ask, of)
  if (!ask.isStruck || fault?.places.includes('balance') !== true) return [usual]
  const back = { ...usual, amount: -of }
  switch (fault.deed) {
    case 'posted twice':
      return [usual, usual]
    case 'not posted':
      return []
    case 'posted to another account':
      return [{ ...usual, account: usual.account === 'main' ? 'other' : 'main' }]
    case 'given back':
      return [usual, back]
    case 'given back twice':
      return [usual, back, back]
    case 'posted in one value':
      return [{ ...usual, isOfOne: true }]
    case 'grant taken':
      return [usual, { ...usual, amount: grantTaken }]
    default:
      return [usual]
  }
}

const idOf = ({ repeats, nth, other }: Asked) =>
  other === undefined ? `chatcmpl-7f3a9c41d2${repeats ?? nth}` : `${other}-${nth}`

function pathOf({ other, dialect }: Asked): string {
  if (other === 'embeddings') return '/v1/embeddings'
  if (other === 'transcriptions') return '/v1/audio/transcriptions'
  return dialect === 'chat' ? '/v1/chat/completions' : '/v1/messages'
}

/** Rows of the service's own log, each as JSON with its numbers as the service writes them. */
function rowsOf({ terms, fault, conduct }: World, ask: Asked, spend: string): readonly string[] {
  if (ask.ended === 'refused' && Number(spend) === 0) return []
  if (ask.ended === 'gateway_cache' && Number(spend) === 0) return []
  const deed = ask.isStruck && fault?.places.includes('log') === true ? fault.deed : undefined
  const isBilled = ask.ended === 'ok' || ask.ended === 'gateway_cache'
  const at = terms.startMs + 1000 * ask.at + (deed === 'other time in the row' ? 3_600_000 : 0)
  const row = {
    request_id: idOf(ask),
    model: deed === 'other model in the row' ? 'unheard-of' : ask.model,
    startTime: new Date(at).toISOString(),
    prompt_tokens: promptTokens(ask.counts),
    completion_tokens: isBilled
      ? outputTokens(ask.counts) + (deed === 'other tokens in the row' ? 7 : 0)
      : ask.ended === 'abort' || ask.ended === 'broken'
        ? ask.generated
        : 0,
  }
  const write = (fields: object, cost: string) =>
    JSON.stringify({ ...fields, spend: 0 }).replace('"spend":0', `"spend":${cost}`)
  const written = write(row, spend)
  const failed = write({ ...row, prompt_tokens: 0, completion_tokens: 0 }, '0')
  if (deed === 'row missing') return []
  if (deed === 'row twice') return [written, written]
  return conduct.has('rows of attempts') ? [failed, written] : [written]
}

/** What each account has at the begin. */
export const begins = amount('100')

/** The rows that a run would have stored. */
class Sheet {
  readonly rows: AttemptRow[] = []
  readonly bodies: BodyRow[] = []
  readonly templates: TemplateRow[] = []
  readonly shown: Shown[] = []
  private readonly world: World
  private readonly postings: readonly Posting[]

  constructor(world: World, postings: readonly Posting[]) {
    this.world = world
    this.postings = postings
  }

  /** Reads of the page of each account that has requests. */
  reads(at: number): void {
    const { balance } = this.world.terms
    if (balance?.at !== 'page') return
    for (const account of new Set(this.world.asks.map((ask) => ask.account))) {
      const value = this.balanceAt(at, account, at + 0.05)
      this.add(
        ['GET', '/key/info', ''],
        { endpoint: 'other', model: null, account, ...noTokens, ...timesOf(at, 0.05) },
        ['', `{"info":${info(value, '"value"', '"other"', '"most"')}}`],
      )
    }
  }

  ask(ask: Asked, cost: string): void {
    const { terms, conduct, isCaptured } = this.world
    const isStored = isCaptured
    const usage = usageOf(ask, conduct.has('bare usage'))
    const isWhole = ask.ended !== 'abort' && ask.ended !== 'broken' && ask.ended !== 'refused'
    const inHeader =
      isWhole && !(ask.isStream || (conduct.has('costs on plain answers alone') && ask.isStream))
    const headers = [
      ...(inHeader && (terms.cost === 'header' || terms.cost === 'both')
        ? [`x-cost: ${cost}`]
        : []),
      ...(terms.balance?.at === 'header' && isStored
        ? headersOf(this.balanceAt(this.headerAt(ask), ask.account, ask.at + ask.seconds, ask.at))
        : []),
    ]
    const inBody =
      terms.cost === 'body' || terms.cost === 'both'
        ? conduct.has('costs on plain answers alone') && ask.isStream
          ? null
          : cost
        : null
    const body = answerText(ask, usage, idOf(ask), inBody)
    const isOther = ask.other !== undefined
    const request = JSON.stringify({
      ...{
        model: ask.model,
        messages: [{ role: 'user', content: promptText(ask) }],
        max_tokens: 4000,
      },
      ...(ask.isStream ? { stream: true } : {}),
      ...(ask.isFlex ? { service_tier: 'flex' } : {}),
      ...(ask.maySearch ? { web_search_options: {} } : {}),
    })
    this.add(
      [
        'POST',
        pathOf(ask),
        isOther ? JSON.stringify({ model: ask.model, input: promptText(ask) }) : request,
      ],
      {
        ...{ endpoint: isOther ? 'other' : ask.dialect, model: ask.model, account: ask.account },
        responseModel: isWhole && ask.other !== 'transcriptions' ? answeredBy(ask) : null,
        responseId: ask.ended === 'refused' || isOther ? null : idOf(ask),
        ...(isStored || !isWhole || isOther
          ? noTokens
          : columnsOf(usage, ask.dialect, !isMute(ask))),
        streamed: ask.isStream ? 1 : 0,
        outcome:
          ask.ended === 'refused'
            ? 'http_error'
            : ask.ended === 'abort'
              ? 'aborted'
              : ask.ended === 'broken'
                ? 'broken'
                : 'ok',
        status: ask.ended === 'refused' ? 400 : 200,
        finishReason: ask.ended === 'filtered' ? 'content_filter' : isWhole ? 'stop' : null,
        doneMarks: isWhole && ask.isStream ? 1 : 0,
        contentEvents: ask.isStream ? (isWhole ? ask.counts.output : ask.received) : 0,
        events: ask.isStream ? 3 : 0,
        flags:
          (ask.isStream ? flags.sseType : flags.jsonType) +
          ((ask.passes?.length ?? 0) > 1 ? flags.severalPasses : 0),
        ...timesOf(ask.at, ask.seconds),
      },
      isStored ? [headers.join('\n') || 'x-none: 1', body] : null,
    )
  }

  /** A head is sent before a stream is charged; a plain answer shows its own charge, unless the value is older. */
  private headerAt({ isStream, at, seconds }: Asked): number {
    return isStream || this.world.conduct.has('balance before the charge') ? at : at + seconds
  }

  /** The value that is shown at a moment, which may be late within its promise. */
  private balanceAt(at: number, account: string, until: number, from = at): Values {
    const { terms, conduct, asks } = this.world
    const { moves, withinS } = terms.balance!
    const late = conduct.has('late balance') ? withinS * ((Math.round(10 * at) % 10) / 10) : 0
    const untilUs = microsecond(at - late)
    const seen = this.postings.filter(
      (each) => each.account === account && microsecond(each.at) <= untilUs,
    )
    const taken = sumOf(seen.map((each) => each.amount))
    const inBoth = sumOf(seen.map((each) => (each.isOfOne === true ? 0n : each.amount)))
    const middle = asks[Math.floor(asks.length / 2)]?.at ?? 0
    const isAfter = at > middle
    const extra =
      moves === 'down' && conduct.has('topped up') && isAfter
        ? amount('25')
        : moves === 'up' && conduct.has('period restarts') && isAfter
          ? sumOf(seen.filter((each) => each.at <= middle).map((each) => each.amount)) + begins
          : 0n
    const { both } = this.world.terms.balance!
    const otherTaken = both === undefined ? null : inBoth
    this.shown.push({ from, until, account, taken, otherTaken, extra })
    const write = (of: Amount) => text(rounded(of, most, 'half_even'))
    const value = moves === 'up' ? begins + taken - extra : begins - taken + extra
    if (otherTaken === null) return { value: write(value), other: null, most: null }
    // A payment is part of the sum; a new period is not.
    const sum = amount(String(sumOfBoth)) + (moves === 'up' ? 0n : extra)
    const left = moves === 'up' ? begins + otherTaken - extra : begins - otherTaken + extra
    return { value: write(value), other: write(sum - left), most: write(sum) }
  }

  private add(
    [method, path, request]: readonly [string, string, string],
    row: Partial<AttemptRow>,
    stored: readonly [string, string] | null,
  ): void {
    const slot = this.rows.length
    this.rows.push(attempt(slot, { ...row, template: this.templateOf(method, path, request) }))
    if (stored === null) return
    const [headers, body] = stored
    this.bodies.push({ runId: 'a', slot, retry: 0, headers, body, truncated: false })
  }

  private templateOf(method: string, path: string, body: string): number {
    const known = this.templates.findIndex(
      (each) => each.path === path && (each.body ?? '') === body,
    )
    if (known >= 0) return known
    this.templates.push({
      ...{ runId: 'a', template: this.templates.length, step: 'chat', method, path, headers: '' },
      ...{ body: body === '' ? null : body, maxTokens: null, n: null, promptHash: null },
    })
    return this.templates.length - 1
  }
}

/** The values of a balance that are shown at once. */
interface Values {
  readonly value: string
  readonly other: string | null
  readonly most: string | null
}

/** As the page has them: amounts are written as they are. */
const info = ({ value, other, most: sum }: Values, ...names: readonly string[]) =>
  `{${[value, other, sum].flatMap((each, at) => (each === null ? [] : [`${names[at]}:${each}`])).join(',')}}`

const headersOf = ({ value, other, most: sum }: Values) =>
  [value, other, sum].flatMap((each, at) =>
    each === null ? [] : [`${['x-balance', 'x-other', 'x-most'][at]}: ${each}`],
  )

/** A text with a byte for each token, or more: no service counts more tokens than bytes. */
const promptText = ({ prompt, counts }: Asked) => `${prompt} ${'x'.repeat(promptTokens(counts))}`

const noTokens = { promptTokens: null, completionTokens: null, totalTokens: null }

function timesOf(at: number, seconds: number) {
  const [sentUs, endUs] = [Math.round(at * 1e6), Math.round((at + seconds) * 1e6)]
  return {
    ...{ intendedUs: sentUs, dispatchedUs: sentUs, sentUs, headersUs: sentUs + 1000 },
    ...{ doneUs: endUs, closedUs: endUs },
  }
}
