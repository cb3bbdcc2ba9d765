import { plainRequest, type RequestSpec } from '../../client/call/request.ts'
import { textOf } from '../../client/call/wrong.ts'
import { pricesOf } from '../prices.ts'
import type { ProbeResponse } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import { notAskable, ofFacets, oneGap, type Question } from '../question.ts'
import type { Shown } from '../shown.ts'

/** G-26: which of two mistakes a service finds first. Asked after G-22, which sends such a request while the limit is reached. */
export const precedence = oneGap('G-26', {
  price: ({ contract, readCredits }) => 4 * pricesOf(contract).least + readCredits,
  async ask(prober) {
    const expects = { expects: 'any' } as const
    const badTemperature = { temperature: prober.contract.ranges.chatTemperature.max + 97 }
    const noModel = 'assay-no-such-model'
    const noPath: RequestSpec = {
      ...plainRequest,
      endpoint: 'other',
      path: '/v1/assay-no-such-path',
      auth: 'none',
    }
    const keyOrBody = await prober.chat({ wrong: 'invalid-key', body: badTemperature }, expects)
    const keyOrModel = await prober.chat({ wrong: 'invalid-key', model: noModel }, expects)
    const keyOrPath = await prober.send(noPath, expects)
    const bodyOrModel = await prober.chat({ model: noModel, body: badTemperature }, expects)
    let creditsOrBody: Shown = { oneOf: ['403', '400'] }
    if (prober.operator !== null) {
      await prober.setBalance(0)
      creditsOrBody = statusOf(await prober.chat({ body: badTemperature }, expects), '403', '400')
    }
    return ofFacets(
      {
        '401 or 400': statusOf(keyOrBody, '401', '400'),
        '401 or unknown model': statusOf(keyOrModel, '401', '400', '404'),
        '401 or 404': statusOf(keyOrPath, '401', '404'),
        '400 or unknown model': codeOf(bodyOrModel, 'invalid_request', 'model_not_found'),
        '403 or 400': creditsOrBody,
        '429 or 400': prober.whenFull ?? { oneOf: ['429', '400'] },
      },
      'statuses of double faults',
    )
  },
})

/** G-27, G-28: statuses and shapes that the tables leave open. */
export const refusals: Question = {
  gaps: ['G-27', 'G-28'],
  price: ({ contract, readCredits }) => 4 * pricesOf(contract).most + 3 * readCredits,
  async ask(prober) {
    const chat = await prober.chat({ wrong: 'unknown-model' })
    const messages = await prober.messages({ wrong: 'unknown-model' })
    const small = prober.contract.models.reduce((a, b) =>
      b.contextWindowTokens < a.contextWindowTokens ? b : a,
    )
    const long = await askBeyond(prober, small.id, small.contextWindowTokens)
    const models = await prober.read('models', { wrong: 'invalid-key' })
    const credits = await prober.read('credits', { wrong: 'invalid-key' })
    const path = await prober.send({
      ...plainRequest,
      endpoint: 'other',
      wrong: 'unknown-path',
      auth: 'both',
    })
    const anyStatus = ['400', '404', '200'] as const
    const ofLong = statusOf(long.response, ...anyStatus)
    return {
      'G-27': ofFacets(
        {
          'unknown model on chat': statusOf(chat, ...anyStatus),
          'unknown model on messages': statusOf(messages, ...anyStatus),
          'context too long':
            long.length === null && typeof ofLong === 'string'
              ? { oneOf: [...new Set([...anyStatus, ofLong])] }
              : ofLong,
        },
        `codes ${chat.columns.errorCode ?? 'none'}, ${messages.columns.errorType ?? 'none'}; of the long context ${long.evidence}`,
      ),
      'G-28': ofFacets(
        { models: shapeOf(models), credits: shapeOf(credits), 'unknown path': shapeOf(path) },
        `statuses ${[models, credits, path].map(({ status }) => status ?? 'none').join(', ')}`,
      ),
    }
  },
}

/** G-29, G-30: requests to which two limits apply. */
export const sizes: Question = {
  gaps: ['G-29', 'G-30'],
  price: ({ contract }) => 4 * pricesOf(contract).most,
  async ask(prober) {
    const { maxOutputTokens, maxTokensParameter, maxInputTokens } = prober.contract.limits
    const above = await prober.chat({ maxTokens: maxOutputTokens + 1 }, { expects: 'any' })
    const most = await prober.chat({ maxTokens: maxTokensParameter }, { expects: 'any' })
    const wide = prober.contract.models.find(
      ({ contextWindowTokens }) => contextWindowTokens > maxInputTokens + 4_000,
    )
    const treatment = ({ status, columns }: ProbeResponse): Shown => {
      if (isFailure(status)) return { oneOf: ['refused', 'clamped', 'honoured'] }
      if (status !== 200) return status === 400 ? 'refused' : `status ${status}`
      return (columns.completionTokens ?? 0) > maxOutputTokens
        ? 'honoured'
        : { oneOf: ['clamped', 'honoured'] }
    }
    const tokensOf = ({ columns }: ProbeResponse) => columns.completionTokens ?? 'unknown'
    const answers = {
      'G-29': ofFacets(
        {
          [`${maxOutputTokens + 1}`]: treatment(above),
          [`${maxTokensParameter}`]: treatment(most),
        },
        `answers of ${tokensOf(above)} and ${tokensOf(most)} tokens: only one longer than ${maxOutputTokens} distinguishes clamped from honoured`,
      ),
    }
    if (wide === undefined)
      return { ...answers, 'G-30': notAskable('no model has a window beyond the input limit') }
    const { length, evidence } = await askBeyond(prober, wide.id, maxInputTokens)
    const binds = { taken: 'window', refused: 'limits' } as const
    return {
      ...answers,
      'G-30': ofFacets(
        { binds: length === null ? { oneOf: ['limits', 'window'] } : binds[length] },
        evidence,
      ),
    }
  },
}

interface Beyond {
  readonly response: ProbeResponse
  /** How the service handled the length; null if the response may have another cause, or the prompt was cut. */
  readonly length: 'taken' | 'refused' | null
  readonly evidence: string
}

/** Sends a prompt above a bound. A refusal that does not name the length counts only if a short prompt is served. */
async function askBeyond(prober: Prober, model: string, tokens: number): Promise<Beyond> {
  const response = await prober.chat(
    { model, messages: [{ role: 'user', content: textOf(tokens + 2_000) }] },
    { step: 'long input', expects: 'any' },
  )
  const { errorCode, promptTokens } = response.columns
  const evidence = `status ${response.status}, ${errorCode ?? 'no code'}, ${promptTokens ?? 'no'} prompt tokens counted`
  if (response.status === 200)
    return { response, length: (promptTokens ?? 0) > tokens ? 'taken' : null, evidence }
  if (isFailure(response.status)) return { response, length: null, evidence }
  if (errorCode === 'context_length_exceeded') return { response, length: 'refused', evidence }
  if (!mayNameLength.has(response.status)) return { response, length: null, evidence }
  const { status } = await prober.chat({ model }, { step: 'short input', expects: 'any' })
  const length = status === 200 ? 'refused' : null
  return { response, length, evidence: `${evidence}; status ${status} of a short prompt` }
}

/** Other statuses are about the key, credits or bytes. */
const mayNameLength: ReadonlySet<number | null> = new Set([400, 404, 422])

/** G-31: parameters at bounds that are in no table. */
export const parameters = oneGap('G-31', {
  price: ({ contract }) => 20 * pricesOf(contract).least,
  async ask(prober) {
    const expects = { expects: 'any', step: 'parameter' } as const
    const plain = await prober.chat({}, expects)
    if (plain.status !== 200) {
      const why = `the same request without them ended with status ${plain.status ?? 'none'}`
      return notAskable(why)
    }
    /** Null if the outcome says nothing about the parameter. */
    const taken = async (body: Record<string, unknown>) => {
      const { status, columns } = await prober.chat({ body }, expects)
      if (columns.outcome === 'ok') return 'accepted'
      if (columns.outcome !== 'http_error' || isFailure(status)) return null
      return status === 400 ? 'refused' : `status ${status}`
    }
    const facet = async (body: Record<string, unknown>) =>
      (await taken(body)) ?? { oneOf: ['accepted', 'refused'] }
    const found = {
      'top_p 1.5': await facet({ top_p: 1.5 }),
      'top_p 0': await facet({ top_p: 0 }),
      'empty messages': await facet({ messages: [] }),
      'unknown field': await facet({ assay_unknown_field: 1 }),
    }
    // Each success may be charged per choice, so the search stays small.
    let accepted = 1
    let last: string | null = 'accepted'
    let refused: number | null = null
    for (const n of [2, 4, 8]) {
      if (last !== 'accepted') break
      last = await taken({ n })
      if (last === 'accepted') accepted = n
      else if (last !== null) refused = n
    }
    return ofFacets(
      {
        ...found,
        'n accepted': last === null ? { oneOf: [`${accepted}`, 'more'] } : accepted,
        'n refused': refused ?? { oneOf: [`above ${accepted}`, 'never'] },
      },
      'single requests with one parameter changed',
    )
  },
})

/** Whether no answer came, or one that any request may get: the client's time limit or the rate limit. */
const isUnheard = (status: number | null): boolean =>
  status === null || status === 408 || status === 429

/** Whether a status says nothing about a parameter: unheard, or a failure of the service. */
const isFailure = (status: number | null): boolean => isUnheard(status) || status! >= 500

/** The status of a response; a 5xx that persists is the service's answer, as some give it for an unknown model. */
const statusOf = ({ status }: ProbeResponse, ...open: readonly string[]): Shown =>
  isUnheard(status) ? { oneOf: open } : `${status}`

const codeOf = ({ status, columns }: ProbeResponse, ...open: readonly string[]): Shown =>
  isUnheard(status) ? { oneOf: open } : (columns.errorCode ?? `${status}`)

function shapeOf({ status, columns }: ProbeResponse): Shown {
  if (isFailure(status)) return { oneOf: ['chat', 'messages', 'other'] }
  return status! < 400 ? 'no error' : (columns.errorShape ?? 'none')
}
