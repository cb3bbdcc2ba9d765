import { canPin, firstLine, startOn } from './cores.ts'
import { type BenchOptions, type BenchResult, type Figure, figure } from './result.ts'

interface Measured {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly achieved: number
  readonly cores: number
}

/** Lag of Poisson arrivals at three rates, with every attempt recorded into DuckDB. */
export async function lag({ quick, rounds = quick ? 1 : 5 }: BenchOptions): Promise<BenchResult> {
  const server = startOn('0', './lag-server.ts')
  const figures: Figure[] = []
  try {
    const { baseUrl } = await firstLine<{ baseUrl: string }>(server)
    const measure = async (ratePerS: number, pacing: 'timer' | 'precise') => {
      const found: Measured[] = []
      for (let round = 0; round < rounds; round++) {
        // As a run is: held to one core, a sender waits behind the threads of its own process, the
        // compiler's above all, which no niceness makes yield before they have had their slice.
        const client = startOn('0,1', './lag-client.ts', [
          baseUrl,
          String(ratePerS),
          '3',
          pacing,
          String(round + 1),
        ])
        found.push(await firstLine<Measured>(client))
      }
      return found
    }
    for (const ratePerS of [1000, 5000, 10_000]) {
      const found = await measure(ratePerS, 'timer')
      const goals = ratePerS === 10_000
      figures.push(
        ...lagFigures(`${ratePerS}/s`, found, goals ? 1500 : null),
        figure(
          `${ratePerS}/s client CPU`,
          'cores',
          found.map((each) => each.cores),
          goals ? { text: '<= 0.25', meets: (median) => median <= 0.25 } : null,
        ),
        figure(
          `${ratePerS}/s achieved / planned`,
          '',
          found.map((each) => each.achieved),
          { text: 'within 0.1 %', meets: (median) => Math.abs(median - 1) <= 0.001 },
        ),
      )
    }
    figures.push(...lagFigures('10000/s precise', await measure(10_000, 'precise'), 200))
  } finally {
    server.kill()
  }
  return {
    part: 'lag',
    figures,
    ratios: {},
    notes: canPin ? [] : ['taskset or a second core is missing: processes were not pinned'],
  }
}

function lagFigures(
  name: string,
  found: readonly Measured[],
  boundUs: number | null,
): readonly Figure[] {
  return (['p50', 'p99', 'max'] as const).map((which) =>
    figure(
      `${name} lag ${which}`,
      'us',
      found.map((each) => each[which]),
      which === 'p99' && boundUs !== null
        ? { text: `< ${boundUs} us`, meets: (median) => median < boundUs }
        : null,
    ),
  )
}
