import { ofFacets, pricesOf, type Question } from '../question.ts'
import { textOf } from '../reply.ts'

/** Characters of which any answer holds one soon. */
const stops = ['e', 'a', 'o', ' ']

/** G-04, G-16, G-33: one request for each cause of an end, and what the shortest answers cost. */
export const ends: Question = {
  gaps: ['G-04', 'G-16', 'G-33'],
  price: ({ contract }) => 6 * pricesOf(contract).least + 8,
  async ask(asking) {
    const natural = await asking.messages({ maxTokens: 1024 })
    const byLength = await asking.messages({ maxTokens: 1 })
    const byStop = await asking.messages({ maxTokens: 256, body: { stop_sequences: stops } })
    const chatStop = await asking.chat({ maxTokens: 256, body: { stop: stops } })
    const reasons = [natural, byLength, byStop].map(({ columns }) => columns.finishReason)
    const price = pricesOf(asking.contract).least
    const start = await asking.idleBalance()
    const short = await asking.chat({ maxTokens: 1 })
    const between = await asking.idleBalance()
    const empty = await asking.chat({
      maxTokens: 16,
      messages: [{ role: 'user', content: 'Repeat after me: stop' }],
      body: { stop: ['stop', 'Stop', 's', 'S'] },
    })
    const end = await asking.idleBalance()
    const charged = (fell: number | null) =>
      fell === null
        ? 'unknown'
        : fell === 0
          ? 'free'
          : fell === price
            ? 'charged'
            : `${fell} credits`
    const fell = (a: number | null, b: number | null) => (a === null || b === null ? null : a - b)
    const included = (text: string, reason: string | null, stopped: string) =>
      reason !== stopped
        ? { oneOf: ['included', 'excluded'] }
        : stops.some((stop) => text.includes(stop))
          ? 'included'
          : 'excluded'
    return {
      'G-04': ofFacets(
        {
          'natural end': reasons[0] ?? 'null',
          'token limit': reasons[1] ?? 'null',
          'stop sequence': reasons[2] ?? 'null',
        },
        `stop reasons of three messages: ${reasons.join(', ')}`,
      ),
      'G-16': ofFacets(
        start === null
          ? { 'one token': { oneOf: ['charged', 'free'] } }
          : {
              'one token': charged(fell(start, between)),
              // Only an answer without a token tells what such a one costs.
              'no token':
                empty.columns.completionTokens === 0
                  ? charged(fell(between, end))
                  : { oneOf: ['charged', 'free'] },
            },
        `${short.columns.completionTokens} token, then ${empty.columns.completionTokens}: balance ${start}, ${between}, ${end}`,
      ),
      'G-33': ofFacets(
        {
          chat: included(textOf(chatStop), chatStop.columns.finishReason, 'stop'),
          messages: included(textOf(byStop), byStop.columns.finishReason, 'stop_sequence'),
        },
        `chat ended in ${JSON.stringify(textOf(chatStop).slice(-12))}, messages in ${JSON.stringify(textOf(byStop).slice(-12))}`,
      ),
    }
  },
}
