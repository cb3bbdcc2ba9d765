import { request } from 'node:http'
import { performance } from 'node:perf_hooks'

/*
 * A client that shares nothing with Assay: plain node:http, its own arrivals, its own reading of events. Each prompt is
 * another one, so no prefix cache helps.
 */

export interface Answer {
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  /** From the moment when it was due to its first token, milliseconds; null without one. */
  readonly ttftMs: number | null
  readonly promptTokens: number
  readonly cachedTokens: number
}

export interface Load {
  readonly origin: string
  readonly perS: number
  readonly seconds: number
  readonly words: number
  readonly maxTokens: number
}

/** Sends at Poisson times, whatever the answers do. */
export async function send(load: Load): Promise<readonly Answer[]> {
  const answers: Promise<Answer>[] = []
  const begunMs = performance.now()
  for (let dueS = gapS(load.perS); dueS < load.seconds; dueS += gapS(load.perS)) {
    const dueMs = begunMs + dueS * 1000
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())))
    answers.push(ask(load, dueMs))
  }
  return Promise.all(answers)
}

const gapS = (perS: number) => -Math.log(1 - Math.random()) / perS

const words = ['bako', 'ritu', 'mesa', 'loni', 'vedu', 'pago', 'fixe', 'zawo', 'jahu', 'qiyo']

function ask({ origin, words: length, maxTokens }: Load, dueMs: number): Promise<Answer> {
  const prompt = Array.from({ length }, () => words[Math.floor(Math.random() * words.length)])
  const body = JSON.stringify({
    model: 'any',
    messages: [{ role: 'user', content: prompt.join(' ') }],
    max_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
  })
  return new Promise((resolve) => {
    let answer: Answer = { status: 0, ttftMs: null, promptTokens: 0, cachedTokens: 0 }
    const headers = { 'content-type': 'application/json', connection: 'close' }
    const sent = request(`${origin}/v1/chat/completions`, { method: 'POST', headers }, (came) => {
      answer = { ...answer, status: came.statusCode ?? 0 }
      let rest = ''
      came.setEncoding('utf8')
      came.on('data', (text: string) => {
        const nowMs = performance.now()
        const lines = (rest + text).split('\n')
        rest = lines.pop()!
        for (const line of lines) answer = readLine(answer, line, nowMs - dueMs)
      })
      came.on('close', () => resolve(answer))
    })
    sent.on('error', () => resolve(answer))
    sent.end(body)
  })
}

function readLine(answer: Answer, line: string, sinceDueMs: number): Answer {
  if (!line.startsWith('data: {')) return answer
  const event = JSON.parse(line.slice(6))
  const hasText = Boolean(event.choices?.[0]?.delta?.content)
  const { prompt_tokens = 0, prompt_tokens_details } = event.usage ?? {}
  return {
    status: answer.status,
    ttftMs: answer.ttftMs ?? (hasText ? sinceDueMs : null),
    promptTokens: Math.max(answer.promptTokens, prompt_tokens),
    cachedTokens: Math.max(answer.cachedTokens, prompt_tokens_details?.cached_tokens ?? 0),
  }
}
