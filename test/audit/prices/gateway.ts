import type { AttemptRow } from '../../../src/attempt/columns.ts'
import type { BodyRow, TemplateRow } from '../../../src/attempt/evidence.ts'
import { audit } from '../../../src/audit/audit.ts'
import type { Finding } from '../../../src/audit/verdict.ts'
import type { Contract } from '../../../src/contract/contract.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { appendAttempts, Recorder } from '../../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun, novemberUs } from '../../report/attempts.ts'
import { inEmptyStore } from '../../store/opened.ts'
import { columnsOf } from './columns.ts'

/**
 * A gateway on paper: it answers requests in the chat or the messages dialect and charges them with its own
 * arithmetic, in whole picodollars, so that nothing of the judge is in it.
 */

/** Counts of one request, in disjoint parts. */
export interface Counts {
  readonly input: number
  readonly read: number
  readonly write: number
  readonly visible: number
  readonly reasoning: number
}

/** Picodollars (10^-12 USD) for one token. */
export interface Rates {
  readonly input: number
  readonly read: number
  readonly write: number
  readonly visible: number
  readonly reasoning: number
}

export interface Sent {
  readonly prompt: string
  readonly streamed: boolean
  readonly counts: Counts
  readonly model: string
  readonly returned: string
  readonly ended: 'ok' | 'aborted' | 'broken' | 'refused'
  readonly serviceTier: string | null
  /** Seconds since the run began. */
  readonly at: number
  /** Further fields of the body of the request. */
  readonly asks?: object
  /** A header of the answer. */
  readonly header?: string
}

export type Place = 'stated' | 'log' | 'balance'

/** What a fault changes: the amount of one place, the rows of the log, the usage that the answer shows. */
export interface GatewayFault {
  readonly charge?: (right: bigint, sent: Sent, rates: Rates) => bigint
  readonly rows?: (rows: readonly LoggedRow[], sent: Sent) => readonly LoggedRow[]
  readonly shown?: (usage: Record<string, unknown>, sent: Sent, nth: number) => object
}

export interface LoggedRow {
  readonly request_id: string
  readonly spend: number
  readonly model: string
  readonly startTime: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

export const rates: Rates = {
  input: 4_000_000,
  read: 400_000,
  write: 5_000_000,
  visible: 20_000_000,
  reasoning: 20_000_000,
}
const longFrom = 200_000
const times = (rates: Rates, by: number): Rates =>
  Object.fromEntries(
    Object.entries(rates).map(([name, rate]) => [name, rate * by]),
  ) as never as Rates

/** The contract that the gateway keeps. */
export const contract = parseContract(
  {
    name: 'gateway',
    charged: { success: 'full', refused: 'none', broken: 'none', abort: 'received', empty: 'open' },
    models: [
      {
        id: 'big',
        aliases: ['big-alias'],
        price: { input: 4, cache_read: 0.4, cache_write: 5, output: 20 },
        tiers: {
          steps: [
            {
              above: longFrom,
              price: { input: 8, cache_read: 0.8, cache_write: 10, output: 40 },
            },
          ],
        },
        service: { flex: { times: 0.5 } },
      },
      { id: 'big-2026', price: { input: 2, cache_read: 0.2, cache_write: 2.5, output: 10 } },
    ],
    evidence: {
      cost: [{ header: 'x-cost' }],
      balance: { get: '/key/info', value: 'info.spend', moves: 'up' },
      log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' },
    },
  },
  'gateway',
)

export const sum = (counts: Counts, of: Rates): bigint =>
  (Object.keys(counts) as (keyof Counts)[])
    .map((part) => BigInt(counts[part]) * BigInt(of[part]))
    .reduce((a, b) => a + b, 0n)

/** The rates of a request, with its tier and service tier. */
export function ratesOf({ counts, serviceTier, model }: Sent): Rates {
  const base = model === 'big-2026' ? times(rates, 0.5) : rates
  const prompt = counts.input + counts.read + counts.write
  const long = model !== 'big-2026' && prompt > longFrom ? times(base, 2) : base
  return serviceTier === 'flex' ? times(long, 0.5) : long
}

export function rightCost(sent: Sent): bigint {
  if (sent.ended === 'refused' || sent.ended === 'broken') return 0n
  return sum(sent.counts, ratesOf(sent))
}

const plain: Sent = {
  prompt: 'short',
  streamed: false,
  counts: { input: 120, read: 0, write: 0, visible: 80, reasoning: 0 },
  model: 'big',
  returned: 'big',
  ended: 'ok',
  serviceTier: null,
  at: 0,
}
const long = { input: 200, read: 0, write: 3_000, visible: 90, reasoning: 0 }

/** The least traffic that makes each part of the contract visible, once in each form. */
export const traffic: readonly Sent[] = [
  plain,
  { ...plain, streamed: true },
  { ...plain, prompt: 'cached', counts: long },
  { ...plain, prompt: 'cached', counts: { ...long, write: 0, read: 3_000 } },
  { ...plain, prompt: 'cached', counts: { ...long, write: 0, read: 3_000 }, streamed: true },
  { ...plain, prompt: 'think', counts: { ...plain.counts, reasoning: 300 } },
  {
    ...plain,
    prompt: 'huge',
    counts: { input: 50_000, read: 150_001, write: 0, visible: 50, reasoning: 0 },
  },
  { ...plain, prompt: 'flex', serviceTier: 'flex' },
  { ...plain, prompt: 'alias', model: 'big-alias' },
  { ...plain, prompt: 'alias', model: 'big-alias', streamed: true },
  { ...plain, prompt: 'dated', model: 'big-2026', returned: 'big-2026' },
  { ...plain, prompt: 'bad', ended: 'refused' as const },
  { ...plain, prompt: 'broken', ended: 'broken' as const, streamed: true },
  {
    ...plain,
    prompt: 'short',
    ended: 'aborted' as const,
    streamed: true,
    counts: { ...plain.counts, visible: 40 },
  },
].map((sent, at) => ({ ...sent, at: 10 * at }))

const digits = 12
export function decimal(pico: bigint): string {
  const text = `${pico < 0n ? -pico : pico}`.padStart(digits + 1, '0')
  const point = text.length - digits
  const shown = `${text.slice(0, point)}.${text.slice(point)}`.replace(/\.?0+$/, '')
  return pico < 0n ? `-${shown}` : shown
}

export interface Played {
  readonly findings: readonly Finding[]
  readonly failed: readonly string[]
  readonly of: (rule: string) => Finding
}

/** Sends the traffic through the gateway with a fault at some places, and audits what came of it. */
export async function play(
  fault: GatewayFault,
  places: readonly Place[],
  {
    dialect = 'chat',
    sends = traffic,
    page = {},
    refusal = 'no',
    stored = true,
    of = contract,
  }: {
    readonly dialect?: 'chat' | 'messages'
    readonly sends?: readonly Sent[]
    /** Further fields beside the spend. */
    readonly page?: object
    readonly refusal?: string
    /** Whether the answers were stored. If not, their tokens are in the columns alone, as the client fills them. */
    readonly stored?: boolean
    readonly of?: Contract
  } = {},
): Promise<Played> {
  const rows: AttemptRow[] = []
  const bodies: BodyRow[] = []
  const templates: TemplateRow[] = []
  const log: LoggedRow[] = []
  let spend = 0n
  const templateOf = (body: string, path: string) => {
    const known = templates.findIndex((each) => each.body === body && each.path === path)
    if (known >= 0) return known
    templates.push({
      runId: 'a',
      template: templates.length,
      step: 'chat',
      method: path === '/key/info' ? 'GET' : 'POST',
      path,
      headers: '',
      body: body === '' ? null : body,
      maxTokens: null,
      n: null,
      promptHash: null,
    } as TemplateRow)
    return templates.length - 1
  }
  const read = (at: number) => {
    const slot = rows.length
    rows.push(
      attempt(slot, {
        endpoint: 'other',
        model: null,
        template: templateOf('', '/key/info'),
        ...times_(at),
        promptTokens: null,
        completionTokens: null,
        totalTokens: null,
      }),
    )
    const body = `{"info": {"spend": ${decimal(spend)}, "page": 1${Object.entries(page)
      .map(([name, value]) => `, "${name}": ${value}`)
      .join('')}}}`
    bodies.push({ runId: 'a', slot, retry: 0, headers: '', body, truncated: false })
  }
  read(-1)
  for (const [nth, sent] of sends.entries()) {
    const slot = rows.length
    const right = rightCost(sent)
    const charged = (place: Place) =>
      places.includes(place) && fault.charge !== undefined
        ? fault.charge(right, sent, ratesOf(sent))
        : right
    const id = `req-${nth}`
    const usual = usageOf(sent, dialect)
    const usage = (fault.shown?.(usual, sent, nth) ?? usual) as Record<string, unknown>
    const body =
      sent.ended === 'refused'
        ? JSON.stringify({ error: { message: refusal } })
        : answerOf(sent, usage, id, dialect)
    const isOk = sent.ended === 'ok'
    const requestBody = JSON.stringify({
      model: sent.model,
      messages: sent.prompt,
      ...(sent.streamed ? { stream: true } : {}),
      ...sent.asks,
    })
    rows.push(
      attempt(slot, {
        endpoint: dialect,
        template: templateOf(requestBody, `/v1/${dialect}`),
        model: sent.model,
        responseModel: sent.returned,
        responseId: sent.ended === 'refused' ? null : id,
        ...(stored || !isOk ? noTokens : columnsOf(usage, dialect)),
        streamed: sent.streamed ? 1 : 0,
        outcome: { ok: 'ok', aborted: 'aborted', broken: 'broken', refused: 'http_error' }[
          sent.ended
        ],
        status: sent.ended === 'refused' ? 400 : 200,
        finishReason: isOk ? 'stop' : null,
        doneMarks: isOk && sent.streamed ? 1 : 0,
        contentEvents: sent.ended === 'aborted' ? sent.counts.visible : 0,
        events: sent.streamed ? 3 : 0,
        flags: sent.streamed ? 256 : 128,
        ...times_(sent.at),
      }),
    )
    const hasCost = isOk && !(sent.streamed && places.length > 0 && !places.includes('stated'))
    if (stored)
      bodies.push({
        runId: 'a',
        slot,
        retry: 0,
        headers: [
          hasCost ? `x-cost: ${decimal(charged('stated'))}` : 'x-none: 1',
          ...(sent.header === undefined ? [] : [sent.header]),
        ].join('\n'),
        body,
        truncated: false,
      })
    if (sent.ended !== 'refused') {
      const { counts } = sent
      const row: LoggedRow = {
        request_id: id,
        spend: Number(decimal(charged('log'))),
        model: sent.model,
        startTime: new Date(novemberUs / 1000 + sent.at * 1000).toISOString(),
        prompt_tokens: counts.input + counts.read + counts.write,
        completion_tokens: counts.visible + counts.reasoning,
      }
      log.push(...(places.includes('log') ? (fault.rows?.([row], sent) ?? [row]) : [row]))
    }
    spend += charged('balance')
    read(sent.at + 5)
  }
  return inEmptyStore(async (store) => {
    await enterEndedRun(store, 'a')
    await appendAttempts(store, rows)
    const recorder = await Recorder.open(store)
    recorder.append('templates', templates)
    recorder.appendBodies(bodies)
    recorder.flush()
    await recorder.close()
    const { findings } = await audit(store, {
      contract: of,
      runIds: ['a'],
      rules: ['PRICE'],
      log: { text: log.map((row) => JSON.stringify(row)).join('\n'), file: 'spend.jsonl' },
    })
    return {
      findings,
      failed: findings.filter(({ verdict }) => verdict.verdict === 'fail').map(({ rule }) => rule),
      of: (rule) => findings.find((finding) => finding.rule === rule)!,
    }
  })
}

function times_(at: number) {
  const us = at * 1e6
  return {
    intendedUs: us,
    dispatchedUs: us,
    sentUs: us,
    headersUs: us + 1000,
    doneUs: us + 1_000_000,
    closedUs: us + 1_000_000,
  }
}

const noTokens = { promptTokens: null, completionTokens: null, totalTokens: null }

function usageOf({ counts }: Sent, dialect: 'chat' | 'messages'): Record<string, unknown> {
  const { input, read, write, visible, reasoning } = counts
  return dialect === 'chat'
    ? {
        prompt_tokens: input + read + write,
        completion_tokens: visible + reasoning,
        total_tokens: input + read + write + visible + reasoning,
        prompt_tokens_details: { cached_tokens: read, cache_write_tokens: write },
        completion_tokens_details: { reasoning_tokens: reasoning },
      }
    : {
        input_tokens: input,
        cache_read_input_tokens: read,
        cache_creation_input_tokens: write,
        output_tokens: visible + reasoning,
      }
}

function answerOf(
  { streamed, returned, ended, serviceTier }: Sent,
  usage: Record<string, unknown>,
  id: string,
  dialect: 'chat' | 'messages',
): string {
  const head = {
    id,
    model: returned,
    ...(serviceTier === null ? {} : { service_tier: serviceTier }),
  }
  if (!streamed) return JSON.stringify({ ...head, usage })
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  const { output_tokens: output, ...start } = usage
  const first =
    dialect === 'chat'
      ? event({ ...head, choices: [{ delta: { content: 'a' } }] })
      : event({
          type: 'message_start',
          message: { ...head, usage: { ...start, output_tokens: 3 } },
        })
  if (ended !== 'ok') return dialect === 'chat' ? first : first
  return dialect === 'chat'
    ? `${first}${event({ ...head, choices: [], usage })}data: [DONE]\n\n`
    : `${first}${event({ type: 'message_delta', usage: { output_tokens: output } })}${event({ type: 'message_stop' })}`
}
