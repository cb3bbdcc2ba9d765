import { createHash } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import type { AttemptRow } from '../../../../src/attempt/columns.ts'
import type { BodyRow, TemplateRow } from '../../../../src/attempt/evidence.ts'
import { audit } from '../../../../src/audit/audit.ts'
import type { Finding } from '../../../../src/audit/verdict.ts'
import type { Contract } from '../../../../src/contract/contract.ts'
import { appendAttempts, Recorder } from '../../../../src/store/attempts/recorder.ts'
import { attempt, enterEndedRun } from '../../../report/attempts.ts'
import { inEmptyStore } from '../../../store/opened.ts'

/** When the client leaves: before the answer, after so many events, or as soon as the stream is complete. */
export type Leaves = 'never' | 'at-once' | 'half' | 'at-the-end'

export interface Asked {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly leaves?: Leaves
  readonly key?: string
}

interface Received {
  readonly status: number
  readonly headers: string
  readonly body: string
  readonly isLeft: boolean
  readonly isBroken: boolean
}

/** Sends requests over HTTP, and writes down what a run of Assay would have stored of them. */
export class RecordedClient {
  private readonly rows: AttemptRow[] = []
  private readonly bodies: BodyRow[] = []
  private readonly templates: TemplateRow[] = []
  private readonly zeroMs = nowMs()
  private readonly baseUrl: string
  private readonly key: string
  private readonly headOf: (head: string) => string

  /** @param headOf what a proxy in between makes of the head of an answer */
  constructor(baseUrl: string, key: string, headOf = (head: string) => head) {
    this.baseUrl = baseUrl
    this.key = key
    this.headOf = headOf
  }

  /** @returns the body of the answer */
  async ask(body: object, { path = '/v1/chat/completions', ...more }: Asked = {}): Promise<string> {
    const given = { model: 'big', max_tokens: 100, ...body }
    const isStream = 'stream' in given && given.stream === true
    const isChat = path.endsWith('/completions')
    const sent = isStream && isChat ? { stream_options: { include_usage: true }, ...given } : given
    const text = JSON.stringify(sent)
    const startMs = nowMs()
    const got = await this.exchange('POST', path, text, more)
    const documents = documentsOf(got.body)
    const last = Object.assign({}, ...documents) as Record<string, unknown>
    const message = (last.message ?? {}) as Record<string, unknown>
    const finish = documents.flatMap(finishOf).at(-1) ?? null
    const isDone = /data: \[DONE\]|message_stop/.test(got.body)
    const isError = got.status >= 400
    const failed = documents.some((each) => 'error' in each) && !isError
    this.rows.push(
      attempt(this.rows.length, {
        endpoint: isChat ? 'chat' : 'messages',
        template: this.template('POST', path, text),
        model: given.model,
        responseModel: textOr(last.model ?? message.model),
        responseId: textOr(message.id ?? last.id),
        account: more.key ?? 'main',
        streamed: isStream ? 1 : 0,
        outcome: got.isLeft
          ? 'aborted'
          : isError
            ? 'http_error'
            : got.isBroken || failed
              ? 'broken'
              : 'ok',
        status: got.status === 0 ? null : got.status,
        finishReason: finish,
        doneMarks: isDone ? 1 : 0,
        contentEvents: documents.filter(hasText).length,
        ...noTokens,
        ...this.times(startMs),
      }),
    )
    this.keep(got)
    return got.body
  }

  /** Reads a page with money. @param key of another account */
  async read(path: string, key?: string): Promise<unknown> {
    const startMs = nowMs()
    const got = await this.exchange('GET', path, '', key === undefined ? {} : { key })
    this.rows.push(
      attempt(this.rows.length, {
        endpoint: 'other',
        model: null,
        template: this.template('GET', path, ''),
        account: key ?? 'main',
        ...noTokens,
        ...this.times(startMs),
      }),
    )
    this.keep(got)
    return JSON.parse(got.body)
  }

  /** Audits what was sent, with a log. */
  async audit(
    contract: Contract,
    log: readonly unknown[] | null,
    choices: Readonly<Record<string, string>> = {},
  ): Promise<readonly Finding[]> {
    return inEmptyStore(async (store) => {
      await enterEndedRun(store, 'a', { startedAtUs: Math.round(this.zeroMs * 1000) })
      await appendAttempts(store, this.rows)
      const recorder = await Recorder.open(store)
      recorder.append('templates', this.templates)
      recorder.appendBodies(this.bodies)
      recorder.flush()
      await recorder.close()
      const { findings } = await audit(store, {
        ...{ contract, runIds: ['a'], rules: ['PRICE'], choices },
        ...(log === null
          ? {}
          : { log: { text: log.map((row) => JSON.stringify(row)).join('\n'), file: 'log' } }),
      })
      return findings
    })
  }

  private keep({ headers, body }: Received): void {
    const slot = this.rows.length - 1
    const sent = { headers: this.headOf(headers), body, truncated: false }
    this.bodies.push({ runId: 'a', slot, retry: 0, ...sent })
  }

  private times(startMs: number) {
    const us = (ms: number) => Math.round((ms - this.zeroMs) * 1000)
    const [sentUs, endUs] = [us(startMs), us(nowMs())]
    return {
      ...{ intendedUs: sentUs, dispatchedUs: sentUs, sentUs, headersUs: endUs },
      ...{ doneUs: endUs, closedUs: endUs },
    }
  }

  private template(method: string, path: string, body: string): number {
    const known = this.templates.findIndex(
      (each) => each.path === path && (each.body ?? '') === body,
    )
    if (known >= 0) return known
    this.templates.push({
      ...{ runId: 'a', template: this.templates.length, step: 'chat', method, path, headers: '' },
      body: body === '' ? null : body,
      ...{ maxTokens: null, n: null },
      promptHash: createHash('md5').update(body).digest('hex'),
    })
    return this.templates.length - 1
  }

  private exchange(
    method: string,
    path: string,
    body: string,
    { headers = {}, leaves = 'never', key = this.key }: Asked,
  ): Promise<Received> {
    return new Promise((resolve) => {
      const pieces: Buffer[] = []
      let [status, head, isLeft] = [0, '', false]
      const end = (isBroken: boolean) =>
        resolve({
          ...{ status, headers: head, isLeft, isBroken },
          body: Buffer.concat(pieces).toString(),
        })
      const request = httpRequest(`${this.baseUrl}${path}`, {
        ...{ method, agent: false },
        headers: {
          ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...headers,
        },
      })
      const leave = () => {
        isLeft = leaves !== 'at-the-end'
        request.destroy()
        end(false)
      }
      request.on('response', (response) => {
        status = response.statusCode ?? 0
        const raw = response.rawHeaders
        head = raw
          .flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${raw[at + 1]}`] : []))
          .join('\n')
        response.on('data', (piece: Buffer) => {
          pieces.push(piece)
          const text = Buffer.concat(pieces).toString()
          if (leaves === 'half' && text.split('data: ').length > 20) leave()
          if (leaves === 'at-the-end' && text.includes('[DONE]')) leave()
        })
        response.on('end', () => end(!response.complete))
        response.on('error', () => end(true))
      })
      request.on('error', () => end(true))
      request.end(body)
      if (leaves === 'at-once') setTimeout(leave, 100)
    })
  }
}

/** Milliseconds of UTC with their fractions: requests follow each other within one. */
const nowMs = () => performance.timeOrigin + performance.now()

const noTokens = { promptTokens: null, completionTokens: null, totalTokens: null }
const textOr = (value: unknown) => (typeof value === 'string' ? value : null)

function documentsOf(body: string): readonly Record<string, unknown>[] {
  const events = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => data!)
  const texts = events.length > 0 ? events : body.startsWith('{') ? [body] : []
  return texts.flatMap((text) => {
    try {
      return [JSON.parse(text) as Record<string, unknown>]
    } catch {
      return []
    }
  })
}

function finishOf(document: Record<string, unknown>): readonly string[] {
  const [choice] = (document.choices ?? []) as readonly { readonly finish_reason?: string }[]
  const delta = document.delta as { readonly stop_reason?: string } | undefined
  const reason = choice?.finish_reason ?? delta?.stop_reason ?? document.stop_reason
  return typeof reason === 'string' ? [reason] : []
}

function hasText({ choices, delta }: Record<string, unknown>): boolean {
  const [choice] = (choices ?? []) as readonly { readonly delta?: { readonly content?: string } }[]
  const text = choice?.delta?.content ?? (delta as { readonly text?: string } | undefined)?.text
  return typeof text === 'string' && text !== ''
}
