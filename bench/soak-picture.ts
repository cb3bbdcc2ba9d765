import { renderPng } from '../src/chart/png.ts'
import type { ChartSpec } from '../src/chart/spec.ts'

export interface SoakMemory {
  readonly minute: number
  readonly runMiB: number
  readonly serviceMiB: number
}

/** Memory of each process over the minutes of a soak, as a PNG. */
export async function soakPicture(
  course: readonly SoakMemory[],
  perS: string,
): Promise<Uint8Array> {
  const chart: ChartSpec = {
    title: `Resident memory, ${perS} requests a second`,
    description: 'Lines of the resident memory of the run and of the service over the minutes.',
    empty: 'Nothing was measured.',
    heightPx: 240,
    vegaLite: {
      mark: { type: 'line', point: true },
      encoding: {
        x: { field: 'minute', type: 'quantitative', title: 'minute' },
        y: { field: 'mib', type: 'quantitative', title: 'memory (MiB)' },
        color: { field: 'process', type: 'nominal' },
      },
    } as ChartSpec['vegaLite'],
  }
  const points = course.flatMap(({ minute, runMiB, serviceMiB }) => [
    { minute, process: 'run', mib: runMiB },
    { minute, process: 'service', mib: serviceMiB },
  ])
  return (await renderPng(chart, points, { widthPx: 720 })).png
}
