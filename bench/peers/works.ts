/** What every tool is given to do: the same requests, to the same server, on the same core. */
export interface Work {
  readonly name: string
  readonly title: string
  readonly stream: boolean
  /** Requests a second on their own time; null: as fast as 64 connections take them. */
  readonly ratePerS: number | null
  readonly seconds: number
  /** Flags of the Go server; null: nginx with one answer. */
  readonly server: readonly string[] | null
  /** What is divided by: a request, or an event of a stream. */
  readonly unitsPerRequest: number
}

export const connections = 64
export const tokens = 200

/** A stream of 200 tokens takes 0.2 s + 199 times 20 ms: so many a second keep `open` of them open. */
const streams = (open: number, seconds: number): Work => ({
  name: 'streams',
  title: `streams of ${tokens} tokens, one every 20 ms, the first after 200 ms: ${open} open`,
  stream: true,
  ratePerS: Math.round((open / 4.18) * 10) / 10,
  seconds,
  server: ['-tokens', `${tokens}`],
  unitsPerRequest: tokens,
})

/** @param open how many streams are open at once */
export function worksOf(quick: boolean, open: number): readonly Work[] {
  return [
    {
      name: 'chat',
      title: `plain answers of nginx, ${connections} connections, flat out`,
      stream: false,
      ratePerS: null,
      seconds: quick ? 3 : 10,
      server: null,
      unitsPerRequest: 1,
    },
    streams(open, quick ? 6 : 15),
    {
      name: 'open',
      title: 'plain answers, 2,000 a second whatever the service does',
      stream: false,
      ratePerS: 2000,
      seconds: quick ? 5 : 15,
      server: ['-service', '0'],
      unitsPerRequest: 1,
    },
    {
      name: 'stall',
      title: 'answers after 20 ms, 200 a second, and one stall of 2 s after 5 s',
      stream: false,
      ratePerS: 200,
      seconds: 15,
      server: ['-service', '20ms', '-stall', '2s'],
      unitsPerRequest: 1,
    },
  ]
}

export const prompt = 'What does an assayer do?'
export const outputTokensOf = ({ stream }: Work): number => (stream ? tokens : 16)

/** The body that every tool sends. */
export const bodyOf = (work: Work): string =>
  JSON.stringify({
    model: 'm',
    messages: [{ role: 'user', content: prompt }],
    max_tokens: outputTokensOf(work),
    ...(work.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  })
