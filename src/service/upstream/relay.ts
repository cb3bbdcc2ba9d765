import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request as send } from 'undici'
import type { FullContract } from '../../contract/contract.ts'
import { jsonOf, objectOf } from '../../user/json.ts'
import { Secrets, secrets } from '../../user/secrets/secrets.ts'
import type { Behaviour, Kit, Sink } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Refusal } from '../refusal.ts'
import { BrokenStream, EventData } from './events.ts'
import { questionOf } from './question.ts'
import { Reading } from './reading.ts'
import { chatAddress, modelNames, type UpstreamOptions } from './target.ts'
import { toolUsesOf } from './tools.ts'

type Generation = Pick<Behaviour, 'generate' | 'answer' | 'timing' | 'usage'>

/** Enough of an error page to see the error. The rest is not read. */
const maxErrorBytes = 64 << 10
const maxBodyBytes = 32 << 20

/**
 * Gets answers from another server. Accounts, credits and limits stay with this service. A failure
 * of the upstream is a 5xx and is not charged. A client that leaves cancels the upstream's request.
 * The upstream runs in real time.
 */
export class Upstream {
  readonly #address: URL
  readonly #contract: FullContract
  readonly #modelName: (ours: string) => string
  readonly #headers: Readonly<Record<string, string>>
  readonly #secrets: Secrets
  readonly #streamMs: number
  readonly #agent: Agent
  readonly #telling: (words: string) => void
  readonly #told = new Set<string>()

  /** @throws UserError for an invalid address or model name */
  constructor({ contract }: Kit, options: UpstreamOptions) {
    const { connectMs, readMs, streamMs } = { ...contract.timeouts, ...options.timeouts }
    this.#address = chatAddress(options.url)
    this.#contract = contract
    this.#modelName = modelNames(
      options.models ?? [],
      contract.models.map(({ id }) => id),
    )
    const { apiKey = null, headers = [] } = options
    this.#headers = {
      'content-type': 'application/json',
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      ...Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    }
    this.#secrets = new Secrets([
      ...(apiKey === null ? [] : [apiKey]),
      ...headers.filter(({ isSecret }) => isSecret).map(({ value }) => value),
    ])
    for (const secret of this.#secrets.values) secrets.add(secret)
    this.#streamMs = streamMs
    this.#telling = options.tell ?? (() => {})
    this.#agent = new Agent({
      connect: { timeout: connectMs },
      headersTimeout: readMs,
      bodyTimeout: readMs,
    })
  }

  /** The functions that replace the service's own generation. */
  generation(): Generation {
    return {
      generate: (call, sink) => this.#generate(call, sink),
      // If the client of a plain request leaves, only the length of the prompt is known.
      answer: ({ promptTokens }) => ({ choices: [], promptTokens, completionTokens: 0 }),
      timing: () => ({ toFirstUs: 0, gapUs: () => 0 }),
      usage: (_call, { promptTokens, completionTokens }) => ({
        promptTokens,
        completionTokens,
        totalTokens: promptTokens + completionTokens,
      }),
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  #generate(call: Call, sink: Sink): () => void {
    const left = new AbortController()
    const late = setTimeout(() => left.abort(new LateEnd(this.#streamMs)), this.#streamMs)
    this.#relay(call, sink, left.signal)
      .catch((error: unknown) => {
        if (!left.signal.aborted || error instanceof LateEnd)
          this.#tell(error instanceof Error ? error : new Error(String(error)))
        sink.fail(failureOf(error))
      })
      .finally(() => clearTimeout(late))
    return () => left.abort()
  }

  /** Reports a failure to the operator, once each. Clients do not see it. */
  #tell(error: Error): void {
    const words = this.#withoutSecrets(error.message || error.name)
    if (this.#told.has(words) || this.#told.size > 100) return
    this.#told.add(words)
    this.#telling(words)
  }

  async #relay(call: Call, sink: Sink, signal: AbortSignal): Promise<void> {
    const request = call.request!
    const { limits } = this.#contract
    const model = this.#modelName(call.model?.id ?? request.model)
    const { statusCode, headers, body } = await send(this.#address, {
      method: 'POST',
      headers: {
        ...this.#headers,
        accept: request.stream ? 'text/event-stream' : 'application/json',
      },
      body: JSON.stringify(questionOf(call, model, limits.maxOutputTokens)),
      dispatcher: this.#agent,
      signal,
    })
    // An unread body ends with an error. Unhandled, it would end the process.
    body.on('error', () => {})
    if (statusCode !== 200) {
      const text = await textOf(body, maxErrorBytes)
      sink.fail({ ...this.#refusalOf(statusCode, text), ...retryAfterIn(headers) })
      return
    }
    await this.#answerOf(call, body, headers, sink).catch((error: unknown) => {
      // The upstream has answered, so this failure must not count as an unreachable upstream.
      const isLate = signal.aborted || codeOf(error).includes('TIMEOUT')
      throw isLate || error instanceof BrokenStream ? error : new BrokenStream(wordsOf(error))
    })
  }

  async #answerOf(
    call: Call,
    body: AsyncIterable<Uint8Array> & { destroy(): void },
    headers: IncomingHttpHeaders,
    sink: Sink,
  ): Promise<void> {
    const request = call.request!
    const reading = new Reading(call.promptTokens, request, this.#secrets)
    if (!request.stream) {
      const answer = reading.whole(await textOf(body, maxBodyBytes))
      // Invalid tool calls must fail before the answer is charged.
      if (request.format === 'messages') toolUsesOf(answer.choices[0])
      sink.done(answer)
      return
    }
    if (!String(headers['content-type']).includes('text/event-stream')) {
      body.destroy()
      throw new BrokenStream('an answer that is not a stream')
    }
    await relayStream(body, reading, sink)
  }

  /**
   * The refusal for a status of the upstream. Only errors in the request itself are the client's. A
   * refusal or a limit of our own key is not.
   */
  #refusalOf(status: number, text: string): Refusal {
    if (status === 400 || status === 413 || status === 422) {
      const { code, message } = errorIn(text)
      const kind = code === 'context_length_exceeded' ? 'context' : 'request'
      return { kind, message: this.#withoutSecrets(message ?? 'the upstream refused the request') }
    }
    this.#tell(new Error(`status ${status}: ${text}`))
    const passing = status === 429 || (status >= 502 && status <= 504)
    return {
      kind: passing ? 'unavailable' : 'internal',
      message: `the upstream answered ${status}; nothing was charged`,
    }
  }

  #withoutSecrets(text: string): string {
    const shown = this.#secrets.without(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it replaces
    return shown.slice(0, 500).replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ')
  }
}

class LateEnd extends Error {
  constructor(afterMs: number) {
    super(`an answer that did not end within ${afterMs / 1000} s`)
  }
}

/** @throws BrokenStream if the stream ends too early */
async function relayStream(
  body: AsyncIterable<Uint8Array>,
  reading: Reading,
  sink: Sink,
): Promise<void> {
  const events = new EventData()
  let done = false
  // The upstream's head starts the response, unless the bytes that came with it show a failure.
  setImmediate(() => void sink.pieces([]))
  const checkWhole = () => {
    if (!reading.isWhole()) throw new BrokenStream('a stream that ended too early')
  }
  const end = () => {
    checkWhole()
    done = true
    sink.done(reading.answer())
  }
  // The body is read to its end even after the last event, so that the connection can be reused.
  for await (const bytes of body) {
    if (done) continue
    const data = events.push(bytes)
    const last = data.indexOf('[DONE]')
    // All data of one read is parsed before any is passed on, so that a failure among the first
    // bytes is still a plain 5xx.
    const pieces = (last < 0 ? data : data.slice(0, last)).flatMap((each) => reading.chunk(each))
    if (last >= 0) checkWhole()
    if (pieces.length > 0) await sink.pieces(pieces)
    if (last >= 0) end()
  }
  if (!done) end()
}

async function textOf(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxBytes) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The `code` and `message` of an error body, if it has them. */
function errorIn(text: string): { readonly code: unknown; readonly message: string | null } {
  const { code, message } = objectOf(objectOf(jsonOf(text)).error)
  return { code, message: typeof message === 'string' ? message : null }
}

/** The error's own message is left out, because it may name internal hosts. */
function failureOf(error: unknown): Refusal {
  if (error instanceof BrokenStream) {
    return { kind: 'internal', message: 'the upstream broke off; nothing was charged' }
  }
  const silent = error instanceof LateEnd || codeOf(error).includes('TIMEOUT')
  return {
    kind: 'unavailable',
    message: silent
      ? 'the upstream did not answer in time; nothing was charged'
      : 'the upstream cannot be reached; nothing was charged',
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

const wordsOf = (error: unknown): string =>
  `an answer that was cut short: ${error instanceof Error ? error.message : error}`

/** Passes on seconds or a date, and nothing else. */
function retryAfterIn({ 'retry-after': value }: IncomingHttpHeaders): Pick<Refusal, 'retryAfter'> {
  const isPlain = /^\d{1,9}$|^[A-Z][a-z]{2}, [\w :]{8,} GMT$/.test(value ?? '')
  return value !== undefined && isPlain ? { retryAfter: value } : {}
}
