/**
 * A server under `bench/service.ts`, in a process of its own:
 *
 *     node bench/service-server.ts bare SAMPLE       the same bytes from a bare node:http server
 *     node bench/service-server.ts instant FILE      the service, answers at once
 *     node bench/service-server.ts paced FILE GAP_MS TOKENS
 *     node bench/service-server.ts bare-paced GAP_MS SAMPLE     the same streams from node:http
 *
 * The message `mark` sets a mark; spans between two of them are asked for, and answered by figures.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defaultContract } from '../src/contract/default.ts'
import { type Clock, realClock } from '../src/service/clock.ts'
import type { Shape } from '../src/service/options.ts'
import { holdYoung, keepPausesShort } from '../src/service/pauses.ts'

/** What it sends when it listens. */
export interface Ready {
  readonly port: number
  readonly apiKey: string
}

/** Two marks, by their numbers from 1 on; 0 is the start. */
export type Span = readonly [from: number, to: number]

/** What it used, and how late it was, between two marks. */
export interface Reading {
  readonly cpuUs: number
  /** By the service's own stamp, taken when a token had been given to the system. */
  readonly tokens: number
  readonly p50LateMs: number
  readonly p99LateMs: number
  readonly maxLateMs: number
}

const latenessUs = new Float64Array(4_000_000)
let written = 0
const marks = [{ written: 0, usedUs: 0 }]

const instant: Shape = {
  timeToFirstUs: { kind: 'constant', value: 0 },
  betweenTokensUs: { kind: 'constant', value: 0 },
  lengthTokens: { kind: 'constant', value: 16 },
}

const [, , role, ...words] = process.argv
if (role === 'bare') bare(words[0]!)
else if (role === 'bare-paced') barePaced(Number(words[0]), words[1]!)
else if (role === 'instant' || role === 'paced') await assay(role, words)

/** A clock that stamps how late each paced step was done. */
function stampingClock(): Clock {
  const clock = realClock()
  return {
    ...clock,
    pace: (dueUs, step) =>
      clock.pace(dueUs, (nowUs) => {
        const againUs = step(nowUs)
        latenessUs[written++] = clock.nowUs() - dueUs
        dueUs = againUs ?? 0
        return againUs
      }),
  }
}

async function assay(role: 'instant' | 'paced', words: readonly string[]): Promise<void> {
  const [dataPath, gapMs, tokens] = words
  // As `assay serve` does.
  holdYoung()
  const { startService } = await import('../src/service/start.ts')
  keepPausesShort()
  const service = await startService({
    dataPath: dataPath!,
    seed: 1,
    accounts: [{ name: 'bench', balance: 100_000_000 }],
    clock: role === 'paced' ? stampingClock() : realClock(),
    // Limits that a benchmark does not reach; they are counted all the same.
    contract: {
      ...defaultContract,
      bands: defaultContract.bands.map((band) => ({
        ...band,
        requests: { minute: 1e9, hour: 1e9, day: 1e9 },
      })),
    },
    shape: role === 'instant' ? instant : pacedShape(Number(gapMs), Number(tokens)),
  })
  ready({ port: Number(new URL(service.baseUrl).port), apiKey: service.keys[0]!.apiKey })
}

/** Streams that begin anywhere between two ticks, so that they are not all due at once. */
function pacedShape(gapMs: number, tokens: number): Shape {
  return {
    timeToFirstUs: { kind: 'uniform', min: 0, max: gapMs * 1000 },
    betweenTokensUs: { kind: 'constant', value: gapMs * 1000 },
    lengthTokens: { kind: 'constant', value: tokens },
  }
}

function bare(sample: string): void {
  const { head, body } = JSON.parse(sample) as { head: Record<string, string>; body: string }
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    request.resume()
    request.on('end', () => {
      response.sendDate = false
      response.writeHead(200, head)
      response.end(body)
    })
  })
  server.listen(0, '127.0.0.1', () =>
    ready({ port: (server.address() as AddressInfo).port, apiKey: '-' }),
  )
}

/** What node:http alone reaches: no key, no ledger, no limits; as many tokens as are asked for. */
function barePaced(gapMs: number, sample: string): void {
  const { head, events } = JSON.parse(sample) as { head: Record<string, string>; events: string[] }
  const clock = stampingClock()
  const server = createServer({ noDelay: true }, (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const last = (JSON.parse(body) as { max_tokens: number }).max_tokens
      let dueUs = clock.nowUs() + Math.random() * gapMs * 1000
      let token = 0
      const stop = clock.pace(dueUs, (nowUs) => {
        if (token === 0) response.writeHead(200, head).write(events[0]!)
        let text = ''
        do {
          text += events[++token]!
          dueUs += gapMs * 1000
        } while (token < last && dueUs <= nowUs)
        response.write(text)
        if (token < last) return dueUs
        response.end(events.slice(-2).join(''))
        return null
      })
      response.once('close', stop)
    })
  })
  server.listen(0, '127.0.0.1', 1024, () =>
    ready({ port: (server.address() as AddressInfo).port, apiKey: '-' }),
  )
}

function ready(told: Ready): void {
  process.send!(told)
  process.on('message', (asked: 'mark' | readonly Span[]) => {
    if (asked === 'mark') {
      const { user, system } = process.cpuUsage()
      marks.push({ written, usedUs: user + system })
      // Not before the end: to sort what was measured takes longer than what is measured.
    } else process.send!(asked.map(readingOf))
  })
}

function readingOf([first, last]: Span): Reading {
  const [from, to] = [marks[first]!, marks[last]!]
  const sorted = latenessUs.slice(from.written, to.written).sort()
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0) / 1000
  return {
    cpuUs: to.usedUs - from.usedUs,
    tokens: sorted.length,
    p50LateMs: at(0.5),
    p99LateMs: at(0.99),
    maxLateMs: at(1),
  }
}
