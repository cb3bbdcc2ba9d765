import { parentPort } from 'node:worker_threads'
import { type DrawOptions, renderSvg } from '../../chart/svg.ts'
import type { DrawJob, DrawnChart } from './drawer.ts'

/** Draws charts on a thread of its own, because a drawing takes tens of milliseconds. */
parentPort?.on('message', async ({ number, chart, rows, options }: DrawJob) => {
  parentPort?.postMessage({ number, ...(await drawn(chart, rows, options)) })
})

async function drawn(
  chart: DrawJob['chart'],
  rows: DrawJob['rows'],
  options: DrawOptions,
): Promise<Omit<DrawnChart, 'number'>> {
  try {
    return { svg: (await renderSvg(chart, rows, options)).svg, error: null }
  } catch (error) {
    return { svg: null, error: error instanceof Error ? error.message : String(error) }
  }
}
