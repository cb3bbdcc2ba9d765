import type { Call } from '../call.ts'
import { editChunks } from './completion.ts'
import { type Fault, fault } from './fault.ts'
import { failureShare } from './transport.ts'

export const streamingFaults: readonly Fault[] = [
  fault('stream-json-array', 'SSE-01', 'a stream is one JSON array', (honest) => {
    const begun = new WeakSet<Call>()
    return {
      frame(call, { data }) {
        const before = begun.has(call) ? ',' : '['
        begun.add(call)
        return `${before}${JSON.stringify(data)}`
      },
      ending: () => ']',
      headers(call, status, headers) {
        const all = honest.headers(call, status, headers)
        if (all['content-type']?.startsWith('text/event-stream')) {
          all['content-type'] = 'application/json'
        }
        return all
      },
    }
  }),
  fault('sse-single-newline', 'SSE-02', 'no blank line between events', (honest) => ({
    frame: (call, event) => honest.frame(call, event).slice(0, -1),
  })),
  fault('sse-split-data', 'SSE-02', "a chunk's JSON is split over two data lines", (honest) => ({
    frame: (call, event) => honest.frame(call, event).replace(',', ',\ndata: '),
  })),
  fault('chunk-delta-missing', 'SSE-03', 'the last chunk of a choice has no delta', (honest) => ({
    events: editChunks(honest, (chunk) => ({
      ...chunk,
      choices: chunk.choices.map(({ delta, ...choice }) =>
        choice.finish_reason === null ? { ...choice, delta } : choice,
      ),
    })),
  })),
  fault('chunk-index-missing', 'SSE-03', 'choices of streams have no index', (honest) => ({
    events: editChunks(honest, (chunk) => ({
      ...chunk,
      choices: chunk.choices.map(({ index: _, ...choice }) => choice),
    })),
  })),
  fault('done-missing', 'SSE-04', 'a stream ends without its terminal event', (honest) => ({
    ending: () => '',
    events: (call, moment) =>
      honest.events(call, moment).filter(({ name }) => name !== 'message_stop'),
  })),
  fault('done-twice', 'SSE-04', '[DONE] comes twice', (honest) => ({
    ending: (call) => honest.ending(call).repeat(2),
  })),
  fault('done-lowercase', 'SSE-04', '[done] instead of [DONE]', (honest) => ({
    ending: (call) => honest.ending(call).toLowerCase(),
  })),
  fault('stream-last-fragment-lost', 'SSE-05', 'a stream lacks its last words', (honest) => {
    const held = new WeakMap<Call, readonly object[]>()
    return {
      events(call, moment) {
        if (moment.at !== 'pieces') return honest.events(call, moment)
        const before = (held.get(call) ?? []) as typeof moment.pieces
        held.set(call, moment.pieces)
        return before.length === 0 ? [] : honest.events(call, { at: 'pieces', pieces: before })
      },
    }
  }),
  fault('stream-utf8-cut', 'SSE-05', 'characters of several bytes are cut', (honest) => ({
    events(call, moment) {
      if (moment.at !== 'pieces') return honest.events(call, moment)
      const pieces = moment.pieces.map((piece) => ({
        ...piece,
        text: piece.text.replace(/[^\0-\x7f]/gu, '\ufffd\ufffd'),
      }))
      return honest.events(call, { at: 'pieces', pieces })
    },
  })),
  fault('stream-buffered', 'SSE-06', 'a stream is sent in one piece at its end', (honest) => ({
    timing(call, answer) {
      const timing = honest.timing(call, answer)
      if (call.request?.stream !== true) return timing
      let wholeUs = timing.toFirstUs
      for (let token = 1; token < answer.completionTokens; token++) wholeUs += timing.gapUs()
      return { toFirstUs: wholeUs, gapUs: () => 0 }
    },
  })),
  fault(
    'stream-error-200',
    'SSE-07',
    'one stream in ten fails with 200 and an error event, and is charged',
    (honest) => {
      const failing = new WeakSet<Call>()
      return {
        generate(call, sink) {
          if (call.request?.stream !== true) return honest.generate(call, sink)
          failing.add(call)
          const { promptTokens } = call
          sink.done({ choices: [], promptTokens, completionTokens: 0 })
          return () => {}
        },
        events(call, moment) {
          if (!failing.has(call)) return honest.events(call, moment)
          const refusal = { kind: 'internal', message: 'the service failed' } as const
          return moment.at === 'end'
            ? [{ name: null, data: honest.errorBody(call, honest.wireError(call, refusal)) }]
            : []
        },
        ending: (call) => (failing.has(call) ? '' : honest.ending(call)),
      }
    },
    failureShare,
  ),
]
