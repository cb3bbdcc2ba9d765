import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exponential, type Random, randomOf } from '../simulated-servers.ts'

/**
 * A server of known capacity in real time, in the OpenAI format: `node queueing-server.ts mm8|batch|prefix SEED`. Its times
 * are those of the same names in `bench/simulated-servers.ts`. It prints its port.
 */
const [name = '', seed = '0'] = process.argv.slice(2)
const random = randomOf(`${name} ${seed} in real time`)

interface Asked {
  readonly response: ServerResponse
  readonly prompt: string
}

/** Takes a request and answers it when its turn comes. */
type Take = (asked: Asked) => void

/** Eight workers with one queue; the first token comes at the end of an exponential time of 0.2 s. */
function workers(draw: Random): Take {
  const freeMs = new Array<number>(8).fill(0)
  return ({ response }) => {
    const nowMs = performance.now()
    const first = freeMs.indexOf(Math.min(...freeMs))
    const endMs = Math.max(nowMs, freeMs[first]!) + exponential(draw) * 200
    freeMs[first] = endMs
    setTimeout(() => {
      tokens(response, 1)
      end(response, 1)
    }, endMs - nowMs)
  }
}

/**
 * Continuous batching with 8 slots: a step takes 8 ms and 1.6 ms for each active request; a prefill blocks all. A prompt
 * that the cache holds takes 20 ms.
 */
function batching(draw: Random, prefillMs: number, hasCache: boolean): Take {
  const waiting: Asked[] = []
  const cached = new Set<string>()
  let active: { readonly asked: Asked; readonly untilStep: number; readonly tokens: number }[] = []
  let step = 0
  let isBusy = false
  /** The time up to which work is planned; timers are late by up to some milliseconds, which must not add up. */
  let plannedMs = 0
  const after = (workMs: number, then: () => void) => {
    plannedMs += workMs
    setTimeout(then, Math.max(0, plannedMs - performance.now()))
  }
  const next = () => {
    if (active.length < 8 && waiting.length > 0) {
      const asked = waiting.shift()!
      const isCached = hasCache && cached.has(asked.prompt)
      cached.add(asked.prompt)
      return after(isCached ? 20 : prefillMs, () => {
        const count = 16 + Math.floor(draw() * 49)
        tokens(asked.response, 1)
        active.push({ asked, untilStep: step + count, tokens: count })
        next()
      })
    }
    if (active.length === 0) {
      isBusy = false
      return
    }
    after(8 + 1.6 * active.length, () => {
      step++
      active = active.filter((each) => {
        tokens(each.asked.response, 1)
        if (each.untilStep > step) return true
        end(each.asked.response, each.tokens)
        return false
      })
      next()
    })
  }
  return (asked) => {
    waiting.push(asked)
    if (isBusy) return
    isBusy = true
    plannedMs = performance.now()
    next()
  }
}

function tokens(response: ServerResponse, count: number): void {
  const choices = [{ index: 0, delta: { content: 'word '.repeat(count) }, finish_reason: null }]
  response.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', choices })}\n\n`)
}

function end(response: ServerResponse, count: number): void {
  const usage = { prompt_tokens: 200, completion_tokens: count, total_tokens: 200 + count }
  const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }]
  for (const last of [{ choices }, { choices: [], usage }])
    response.write(`data: ${JSON.stringify({ object: 'chat.completion.chunk', ...last })}\n\n`)
  response.end('data: [DONE]\n\n')
}

const made: Readonly<Record<string, () => Take>> = {
  mm8: () => workers(random),
  batch: () => batching(random, 24, false),
  prefix: () => batching(random, 250, true),
}
const take = made[name]?.()
if (take === undefined) throw new Error(`expected one of ${Object.keys(made).join(', ')}`)

const server = createServer((request, response) => {
  let text = ''
  request.on('data', (piece) => {
    text += piece
  })
  request.on('end', () => {
    if (request.url === '/v1/models') {
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ object: 'list', data: [{ id: name }] }))
    }
    if (request.url !== '/v1/chat/completions') return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    take({ response, prompt: JSON.stringify(JSON.parse(text).messages) })
  })
})
server.on('connection', (socket) => socket.setNoDelay(true))
server.listen(0, '127.0.0.1', 4096, () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
