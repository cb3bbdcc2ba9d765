import { plainRequest } from '../../client/request.ts'
import { textOf } from '../../client/wrong.ts'
import { notAskable, ofFacets, pricesOf, type Question } from '../question.ts'
import type { Reply } from '../reply.ts'

/** G-26: requests with two faults; the status tells which was seen first. Asked after G-22. */
export const precedence: Question = {
  gaps: ['G-26'],
  price: ({ contract }) => 4 * pricesOf(contract).least,
  async ask(asking) {
    const expects = { expects: 'any' } as const
    const badTemperature = { temperature: asking.contract.ranges.chatTemperature.max + 97 }
    const bothKeyAndBody = await asking.chat(
      { wrong: 'invalid-key', body: badTemperature },
      expects,
    )
    const bothKeyAndModel = await asking.chat(
      { wrong: 'invalid-key', model: 'assay-no-such-model' },
      expects,
    )
    const bothKeyAndPath = await asking.send(
      {
        ...plainRequest,
        endpoint: 'other',
        path: '/v1/assay-no-such-path',
        auth: 'none',
      },
      expects,
    )
    const bothBodyAndModel = await asking.chat(
      { model: 'assay-no-such-model', body: badTemperature },
      expects,
    )
    const found: Record<string, string | { oneOf: readonly string[] }> = {
      '401 or 400': statusOf(bothKeyAndBody),
      '401 or unknown model': statusOf(bothKeyAndModel),
      '401 or 404': statusOf(bothKeyAndPath),
      '400 or unknown model': codeOf(bothBodyAndModel),
      '403 or 400': { oneOf: ['403', '400'] },
      '429 or 400':
        asking.whenFull === null ? { oneOf: ['429', '400'] } : statusOf(asking.whenFull),
    }
    const evidence = [`statuses of double faults`]
    if (asking.operator !== null) {
      await asking.setBalance(0)
      found['403 or 400'] = statusOf(await asking.chat({ body: badTemperature }, expects))
    }
    return { 'G-26': ofFacets(found, ...evidence) }
  },
}

/** G-27, G-28: statuses and shapes that the tables leave open. */
export const refusals: Question = {
  gaps: ['G-27', 'G-28'],
  price: ({ contract }) => 2 * pricesOf(contract).most + 2,
  async ask(asking) {
    const chat = await asking.chat({ wrong: 'unknown-model' })
    const messages = await asking.messages({ wrong: 'unknown-model' })
    const small = asking.contract.models.reduce((a, b) =>
      b.contextWindowTokens < a.contextWindowTokens ? b : a,
    )
    const long = await asking.chat(
      {
        model: small.id,
        messages: [{ role: 'user', content: textOf(small.contextWindowTokens + 2_000) }],
      },
      { step: 'long input', expects: 'any' },
    )
    const models = await asking.read('models', { wrong: 'invalid-key' })
    const credits = await asking.read('credits', { wrong: 'invalid-key' })
    const path = await asking.send({
      ...plainRequest,
      endpoint: 'other',
      wrong: 'unknown-path',
      auth: 'both',
    })
    const shape = (reply: Reply) =>
      reply.status !== null && reply.status < 400
        ? 'no error'
        : (reply.columns.errorShape ?? 'none')
    return {
      'G-27': ofFacets(
        {
          'unknown model on chat': statusOf(chat),
          'unknown model on messages': statusOf(messages),
          'context too long': statusOf(long),
        },
        `codes ${chat.columns.errorCode}, ${messages.columns.errorType}, ${long.columns.errorCode}`,
      ),
      'G-28': ofFacets(
        { models: shape(models), credits: shape(credits), 'unknown path': shape(path) },
        `statuses ${models.status}, ${credits.status}, ${path.status}`,
      ),
    }
  },
}

/** G-29, G-30: requests that two limits speak about. */
export const sizes: Question = {
  gaps: ['G-29', 'G-30'],
  price: ({ contract }) => 3 * pricesOf(contract).most,
  async ask(asking) {
    const { maxOutputTokens, maxTokensParameter, maxInputTokens } = asking.contract.limits
    const above = await asking.chat({ maxTokens: maxOutputTokens + 1 }, { expects: 'any' })
    const most = await asking.chat({ maxTokens: maxTokensParameter }, { expects: 'any' })
    const wide = asking.contract.models.find(
      ({ contextWindowTokens }) => contextWindowTokens > maxInputTokens + 4_000,
    )
    const tokens = most.columns.completionTokens ?? 0
    const treatment = (reply: Reply): string | { oneOf: readonly string[] } =>
      reply.status === 400
        ? 'refused'
        : reply.status !== 200
          ? `status ${reply.status}`
          : (reply.columns.completionTokens ?? 0) > maxOutputTokens
            ? 'honoured'
            : { oneOf: ['clamped', 'honoured'] }
    const answers = {
      'G-29': ofFacets(
        {
          [`${maxOutputTokens + 1}`]: treatment(above),
          [`${maxTokensParameter}`]: treatment(most),
        },
        `answers of ${above.columns.completionTokens} and ${tokens} tokens: only one longer than ${maxOutputTokens} tells clamped from honoured`,
      ),
    }
    if (wide === undefined) {
      return { ...answers, 'G-30': notAskable('no model has a window beyond the input limit') }
    }
    const long = await asking.chat(
      { model: wide.id, messages: [{ role: 'user', content: textOf(maxInputTokens + 2_000) }] },
      { step: 'long input', expects: 'any' },
    )
    const binds =
      long.status === 200
        ? 'window'
        : long.columns.errorCode === 'context_length_exceeded' || long.status === 400
          ? 'limits'
          : `status ${long.status}`
    return {
      ...answers,
      'G-30': ofFacets(
        { binds },
        `status ${long.status}, ${long.columns.promptTokens ?? 'no'} prompt tokens counted`,
      ),
    }
  },
}

/** G-31: parameters at bounds that no table gives. */
export const parameters: Question = {
  gaps: ['G-31'],
  price: ({ contract }) => 20 * pricesOf(contract).least,
  async ask(asking) {
    const expects = { expects: 'any', step: 'parameter' } as const
    const taken = async (body: Record<string, unknown>) => {
      const { status } = await asking.chat({ maxTokens: 1, body }, expects)
      return status === 200 ? 'accepted' : status === 400 ? 'refused' : `status ${status}`
    }
    const found = {
      'top_p 1.5': await taken({ top_p: 1.5 }),
      'top_p 0': await taken({ top_p: 0 }),
      'empty messages': await taken({ messages: [] }),
      'unknown field': await taken({ assay_unknown_field: 1 }),
    }
    // Each success may be charged for each choice, so the search stays small.
    let accepted = 1
    let refused: number | null = null
    for (const n of [2, 4, 8]) {
      if (refused !== null) break
      if ((await taken({ n })) === 'accepted') accepted = n
      else refused = n
    }
    return {
      'G-31': ofFacets(
        {
          ...found,
          'n accepted': accepted,
          'n refused': refused ?? { oneOf: [`above ${accepted}`, 'never'] },
        },
        'single requests with one parameter changed',
      ),
    }
  },
}

function statusOf({ status }: Reply): string {
  return `${status ?? 'none'}`
}

function codeOf({ status, columns }: Reply): string {
  return columns.errorCode ?? `${status}`
}
