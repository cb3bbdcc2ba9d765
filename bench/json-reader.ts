/**
 * `node bench/json-reader.ts`: microseconds of CPU to read one document, by the client's reader and by `JSON.parse` of
 * its text, the least of seven rounds over 20,000 documents.
 */
import { DocumentReader } from '../src/client/document/document.ts'

const documents = 20_000
const rounds = 7

const chunk = (at: number, more: object = {}, choice: object = {}) =>
  Buffer.from(
    JSON.stringify({
      ...{ id: `chatcmpl-${at}`, object: 'chat.completion.chunk', model: 'svc-k2', ...more },
      choices: [
        { index: 0, delta: { content: ` word${at % 97}` }, finish_reason: null, ...choice },
      ],
    }),
  )

/** Pieces of data that follow no pattern, but are the same in each process. */
const draw = (at: number, below: number) => (at * 7919 + 31) % below

const kinds: Readonly<Record<string, (at: number) => Buffer>> = {
  'one shape': (at) => chunk(at),
  'other names each time': (at) =>
    chunk(at, Object.fromEntries([1, 2, 3].map((nth) => [`k${draw(at * nth, 100_003)}`, nth]))),
  'lists of other lengths': (at) =>
    chunk(at, {}, { logprobs: Array.from({ length: 1 + draw(at, 61) }, (_, nth) => -nth / 7) }),
}

function leastUs(list: readonly Buffer[], read: (bytes: Buffer) => void): number {
  const figures = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    for (const bytes of list) read(bytes)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / list.length
  })
  return Math.min(...figures)
}

for (const [name, make] of Object.entries(kinds)) {
  const list = Array.from({ length: documents }, (_, at) => make(at))
  const reader = new DocumentReader()
  const own = leastUs(list, (bytes) => reader.read(bytes, 0, bytes.length))
  const parsed = leastUs(list, (bytes) => JSON.parse(bytes.toString()))
  const ratio = (own / parsed).toFixed(2)
  console.log(`${name}: reader ${own.toFixed(2)}, JSON.parse ${parsed.toFixed(2)}, ratio ${ratio}`)
}
