import type { AttemptRow } from '../../../src/attempt/columns.ts'
import { firstUniqueTemplate } from '../../../src/attempt/evidence.ts'
import { flags } from '../../../src/attempt/flags.ts'
import { audit } from '../../../src/audit/audit.ts'
import { parseContract } from '../../../src/contract/load.ts'
import { appendAttempts, Recorder } from '../../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun, novemberUs } from '../../report/attempts.ts'
import { inEmptyStore } from '../../store/opened.ts'

/** A small audit of paid requests of any endpoint, written on paper: what was sent and answered, and the spend before and after. */

export interface Sent {
  readonly path?: string
  readonly model?: string | null
  readonly endpoint?: string
  readonly method?: string
  readonly body?: string
  readonly answer: string
  readonly id?: string | null
  readonly isLeft?: boolean
  /** How it ended otherwise, with what its row says of it. */
  readonly ended?: Partial<AttemptRow>
  /** Further headers of the answer. */
  readonly headers?: string
  /** The key under which a request may be sent again. */
  readonly once?: string
  readonly events?: number
  /** False: the client kept the counts of the answer alone. */
  readonly isStored?: boolean
  /** Whether its body is only an example: each such request has a prompt of its own. */
  readonly isShared?: boolean
  /** Whether its usage lists several passes. */
  readonly isPassed?: boolean
}

export const contractOf = (more: object = {}) =>
  parseContract(
    {
      ...{ name: 'paid', charged: { success: 'full', refused: 'none', abort: 'received' } },
      models: [
        { id: 'big', price: { input: 4, output: 20 } },
        { id: 'whisper', price: { second: '0.0002' } },
        { id: 'embed', price: { input: 4 } },
      ],
      evidence: {
        balance: { get: '/key/info', value: 'spend', moves: 'up' },
        log: { cost: 'spend', id: 'request_id', model: 'model', at: 'startTime' },
      },
      ...more,
    },
    'paid',
  )

/** The page of a spend, or one that is given whole. */
const pageOf = (spend: string) => (spend.startsWith('{') ? spend : `{"spend": ${spend}}`)

/** Audits these requests, one a second, with a read of the spend before and after all of them; null: they read it themselves. */
export async function audited(
  sends: readonly Sent[],
  spends: readonly [string, string] | null,
  {
    log,
    isById = false,
    contract = contractOf(),
  }: {
    log?: readonly object[]
    /** Whether the log was read by the ids of answers. */
    isById?: boolean
    contract?: ReturnType<typeof contractOf>
  } = {},
) {
  const [before = [], after = []] = (spends ?? []).map((spend): readonly Sent[] => [
    {
      ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
      answer: pageOf(spend),
    },
  ])
  const all: readonly Sent[] = [...before, ...sends, ...after]
  const templateOf = (slot: number) => (all[slot]!.isShared ? firstUniqueTemplate : 0) + slot
  const rows = all.map(
    (
      { model = 'big', endpoint = 'chat', id = null, isLeft = false, events = 0, ...sent },
      slot,
    ): AttemptRow =>
      attempt(slot, {
        ...{ endpoint, model, responseModel: model, responseId: id, template: templateOf(slot) },
        ...(sent.isStored === false
          ? { promptTokens: 23_000, completionTokens: 1000, totalTokens: null }
          : { promptTokens: null, completionTokens: null, totalTokens: null }),
        flags: sent.isPassed === true ? flags.severalPasses : 0,
        ...{ streamed: isLeft ? 1 : 0, outcome: isLeft ? 'aborted' : 'ok', contentEvents: events },
        ...{ intendedUs: slot * 1e6, dispatchedUs: slot * 1e6, sentUs: slot * 1e6 },
        ...{ headersUs: slot * 1e6 + 1e3, doneUs: slot * 1e6 + 1e5, closedUs: slot * 1e6 + 1e5 },
        ...sent.ended,
      }),
  )
  return inEmptyStore(async (store) => {
    await enterEndedRun(store, 'a')
    await appendAttempts(store, rows)
    const recorder = await Recorder.open(store)
    recorder.append(
      'templates',
      all.map(
        (
          { path = '/v1/chat/completions', method = 'POST', body = '{"model":"big"}', once },
          slot,
        ) => ({
          ...{ runId: 'a', template: templateOf(slot), step: 's', method, path },
          headers: once === undefined ? '' : JSON.stringify({ 'idempotency-key': once }),
          ...{ body: method === 'GET' ? null : body, maxTokens: null, n: null, promptHash: null },
        }),
      ),
    )
    recorder.appendBodies(
      all.flatMap(({ answer, isStored = true, headers = 'x: 1' }, slot) =>
        isStored ? [{ runId: 'a', slot, retry: 0, headers, body: answer, truncated: false }] : [],
      ),
    )
    recorder.flush()
    await recorder.close()
    const { findings } = await audit(store, {
      ...{ contract, runIds: ['a'], rules: ['PRICE'] },
      ...(log === undefined
        ? {}
        : { log: { text: log.map((row) => JSON.stringify(row)).join('\n'), file: 'log', isById } }),
    })
    return Object.fromEntries(findings.map(({ rule, verdict }) => [rule, verdict]))
  })
}

export const chat = (id: string): Sent => ({
  id,
  body: '{"model":"big","messages":"Hello"}',
  answer: `{"id": "${id}", "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}`,
})
export const row = (id: string, spend: number, at: number, prompt = 10, completion = 5) => ({
  ...{ request_id: id, spend, model: 'big', prompt_tokens: prompt, completion_tokens: completion },
  startTime: new Date(novemberUs / 1000 + at * 1000).toISOString(),
})

export const left = (nth: number): Sent => ({
  ...{ id: `left-${nth}`, isLeft: true, events: 12 },
  body: JSON.stringify({
    model: 'big',
    stream: true,
    messages: `Tell story ${nth}.`,
    max_tokens: 400,
  }),
  answer: Array.from(
    { length: 12 },
    () => `data: {"id":"left-${nth}","choices":[{"delta":{"content":"word "}}]}\n\n`,
  ).join(''),
})

/** A read of the spend, which names no model. */
export const spendPage: Sent = {
  ...{ path: '/key/info', method: 'GET', model: null, endpoint: 'other' },
  answer: '{"spend": 0}',
}
