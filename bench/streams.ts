import { answerOf, clientCore, module, serve, serverCore } from './processes.ts'
import { type BenchOptions, type BenchResult, type Figure, figure } from './result.ts'

interface Paced {
  readonly core: number
  readonly eventsPerS: number
  readonly cpuUsPerEvent: number
  readonly ttftErrorP99Ms: number
  readonly itlErrorP99Ms: number
}

interface Held {
  readonly rssMb: number
  readonly perStreamKb: number
}

const tokensPerS = 50
const gapUs = 1e6 / tokensPerS

/**
 * Event streams: the share of a core that 1,000 and 2,000 streams of 50 tokens/s take, how far
 * TTFT and ITL are from the moments at which the server wrote, and the memory of streams that are held open.
 */
export async function streams({
  quick,
  rounds = quick ? 1 : 5,
}: BenchOptions): Promise<BenchResult> {
  const seconds = quick ? 3 : 10
  const figures: Figure[] = []
  const ratios = { undici: [] as number[], bare: [] as number[] }
  for (const [count, errorMs, share] of [
    [1000, 1, 0.35],
    [2000, 2, null],
  ] as const) {
    const measured = new Map<string, Paced[]>()
    const server = await serve(serverCore, module('./stream-server.ts', 100, gapUs))
    try {
      for (let round = 0; round < rounds; round++) {
        for (const role of ['assay', 'undici', 'bare']) {
          const paced = await answerOf<Paced>(
            clientCore,
            module('./stream-client.ts', role, server.port, count, seconds),
          )
          measured.set(role, [...(measured.get(role) ?? []), paced])
        }
      }
    } finally {
      server.stop()
    }
    for (const [role, each] of measured)
      figures.push(...pacedFigures(role, count, each, errorMs, share))
    for (const peer of ['undici', 'bare'] as const) {
      for (const [round, { cpuUsPerEvent }] of measured.get('assay')!.entries()) {
        ratios[peer].push(measured.get(peer)![round]!.cpuUsPerEvent / cpuUsPerEvent)
      }
    }
  }
  figures.push(...(await heldFigures(quick)))
  return {
    part: 'streams',
    figures,
    // How many times the CPU of ours an event costs them.
    ratios: {
      bareStreams: figure('bare', 'ratio', ratios.bare).median,
      undiciStreams: figure('undici', 'ratio', ratios.undici).median,
    },
    notes: [
      'undici: with a string for each read and JSON.parse for each event',
      'bare: sockets of Node that count their reads, and stamp those of one stream in eight: the floor',
    ],
  }
}

function pacedFigures(
  role: string,
  count: number,
  each: readonly Paced[],
  errorMs: number,
  share: number | null,
): readonly Figure[] {
  const name = `${role}: ${count} streams`
  const ours = role === 'assay'
  const below = (bound: number, unit: string) =>
    ours ? { text: `below ${bound}${unit}`, meets: (median: number) => median < bound } : null
  return [
    figure(
      `${name}, core`,
      'share',
      each.map(({ core }) => core),
      share === null ? null : below(share, ''),
    ),
    figure(
      `${name}, events`,
      'events/s',
      each.map(({ eventsPerS }) => eventsPerS),
    ),
    figure(
      `${name}, CPU`,
      'us/event',
      each.map(({ cpuUsPerEvent }) => cpuUsPerEvent),
    ),
    ...errorFigures(name, each, below(errorMs, ' ms')),
  ]
}

function errorFigures(
  name: string,
  each: readonly Paced[],
  goal: Parameters<typeof figure>[3],
): readonly Figure[] {
  return [
    figure(
      `${name}, TTFT error p99`,
      'ms',
      each.map(({ ttftErrorP99Ms }) => ttftErrorP99Ms),
      goal,
    ),
    figure(
      `${name}, ITL error p99`,
      'ms',
      each.map(({ itlErrorP99Ms }) => itlErrorP99Ms),
      goal,
    ),
  ]
}

async function heldFigures(quick: boolean): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const [scheme, count] of [
    ['http', 1000],
    ['http', 10_000],
    ['tls', 1000],
  ] as const) {
    if (quick && count === 10_000) continue
    const server = await serve(serverCore, module('./stream-server.ts', 1, 0, scheme))
    try {
      const held = await answerOf<Held>(
        clientCore,
        module('./stream-client.ts', 'hold', server.port, count, 0, scheme),
      )
      const name = `assay: ${count} held over ${scheme}`
      const process =
        count === 10_000
          ? { text: 'at most 200 MB', meets: (median: number) => median <= 200 }
          : null
      const each =
        scheme === 'tls' ? { text: 'at most 70 KB', meets: (median: number) => median <= 70 } : null
      figures.push(figure(`${name}, process`, 'MB', [held.rssMb], process))
      figures.push(figure(`${name}, each`, 'KB', [held.perStreamKb], each))
    } finally {
      server.stop()
    }
  }
  return figures
}
