import type { GapAnswer } from '../../contract/profile.ts'
import { smallest } from '../../user/extremes.ts'
import { pricesOf } from '../prices.ts'
import { type ProbeResponse, textOf } from '../probe-response.ts'
import { idleReads, notAskable, ofFacets, type Question } from '../question.ts'

/** Common letters, one of which occurs early in any text. Some services refuse whitespace. */
const stops = ['e', 'a', 'o', 'i']

/** G-04, G-16, G-33: one request for each cause of an end, and the cost of the shortest responses. */
export const ends: Question = {
  gaps: ['G-04', 'G-16', 'G-33'],
  price: ({ contract, readCredits }) => 6 * pricesOf(contract).least + 3 * idleReads * readCredits,
  async ask(prober) {
    const natural = await prober.messages({ maxTokens: 1024 })
    const byLength = await prober.messages({ maxTokens: 1 })
    const byStop = await prober.messages({ maxTokens: 256, body: { stop_sequences: stops } })
    const chatStop = await prober.chat({ maxTokens: 256, body: { stop: stops } })
    const price = pricesOf(prober.contract).least
    const start = await prober.idleBalance()
    const short = await prober.chat({ maxTokens: 1 })
    const between = await prober.idleBalance()
    const empty = await prober.chat({
      maxTokens: 16,
      messages: [{ role: 'user', content: 'Repeat after me: stop' }],
      body: { stop: ['stop', 'Stop', 's', 'S'] },
    })
    const end = await prober.idleBalance()
    const charged = (tells: boolean, from: number | null, to: number | null) =>
      tells && from !== null && to !== null
        ? chargeOf(from - to, price)
        : { oneOf: ['charged', 'free'] }
    const included = (response: ProbeResponse, stopped: string) =>
      response.columns.finishReason !== stopped || goesOn(textOf(response))
        ? { oneOf: ['included', 'excluded'] }
        : firstEnd(textOf(response)) === null
          ? 'excluded'
          : 'included'
    return {
      'G-04': stopReasons({
        'natural end': natural,
        'token limit': byLength,
        // An ignored stop sequence ends nothing.
        ...(goesOn(textOf(byStop)) ? {} : { 'stop sequence': byStop }),
      }),
      'G-16': ofFacets(
        {
          'one token': charged(isServed(short) && !isEmpty(short), start, between),
          // Only a response without a token shows what such a response costs.
          'no token': charged(isServed(empty) && isEmpty(empty), between, end),
        },
        `${short.columns.completionTokens} token, then ${empty.columns.completionTokens}: balance ${start}, ${between}, ${end}`,
      ),
      'G-33': ofFacets(
        { chat: included(chatStop, 'stop'), messages: included(byStop, 'stop_sequence') },
        `chat ended in ${JSON.stringify(textOf(chatStop).slice(-12))}, messages in ${JSON.stringify(textOf(byStop).slice(-12))}`,
      ),
    }
  },
}

/** The end of the first stop sequence in a text; null without one. */
function firstEnd(text: string): number | null {
  const ends = stops.flatMap((stop) =>
    text.includes(stop) ? [text.indexOf(stop) + stop.length] : [],
  )
  return ends.length === 0 ? null : smallest(ends)
}

/** Whether a text continues after the first stop sequence, so the service ignores it. */
function goesOn(text: string): boolean {
  const end = firstEnd(text)
  return end !== null && end < text.length
}

const isServed = ({ columns }: ProbeResponse): boolean => columns.outcome === 'ok'

const isEmpty = ({ columns }: ProbeResponse): boolean => columns.completionTokens === 0

function chargeOf(fell: number, price: number): string {
  if (fell === 0) return 'free'
  return fell === price ? 'charged' : `${fell} credits`
}

/** G-04: the reason in each served message. A refused message has none. */
function stopReasons(causes: Readonly<Record<string, ProbeResponse>>): GapAnswer {
  const served = Object.entries(causes).filter(([, response]) => isServed(response))
  if (served.length === 0) {
    const statuses = Object.values(causes).map(({ status }) => status)
    return notAskable(`no message was served: statuses ${statuses.join(', ')}`)
  }
  const reasons = served.map(
    ([cause, { columns }]) => [cause, columns.finishReason ?? 'null'] as const,
  )
  return ofFacets(
    Object.fromEntries(reasons),
    `stop reasons of ${served.length} messages: ${reasons.map(([, reason]) => reason).join(', ')}`,
  )
}
