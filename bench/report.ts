/**
 * What a page costs: its size and the time to make it, for a run of a million attempts.
 *
 *     node bench/report.ts            a million attempts
 *     node bench/report.ts --quick    a hundred thousand
 */

import { defaultContract } from '../src/contract/default.ts'
import { makeReport } from '../src/report/page.ts'
import { seededStore } from '../test/report/seeded.ts'
import { type BenchOptions, type BenchResult, figure } from './result.ts'

const megabyte = 1e6

export async function report({ quick }: BenchOptions): Promise<BenchResult> {
  const attempts = quick ? 100_000 : 1_000_000
  const store = await seededStore({ attempts })
  const [sizes, seconds]: [number[], number[]] = [[], []]
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    const begun = performance.now()
    const { html } = await makeReport({
      store,
      page: 'run',
      contract: defaultContract,
      runIds: ['run-1'],
      timeZone: 'UTC',
      nowUs: Date.now() * 1000,
    })
    seconds.push((performance.now() - begun) / 1000)
    sizes.push(Buffer.byteLength(html) / megabyte)
  }
  store.close()
  return {
    part: 'report',
    figures: [
      figure(`page of ${attempts.toLocaleString('en-US')} attempts`, 'MB', sizes, {
        text: 'under 3 MB',
        meets: (size) => size < 3,
      }),
      figure('time to make it', 's', seconds),
    ],
    ratios: {},
    notes: [],
  }
}

if (import.meta.main) {
  const { figures } = await report({ quick: process.argv.includes('--quick') })
  for (const { name, unit, median, min, max, goal, met } of figures) {
    const judged = met === null ? '' : ` (${goal}: ${met ? 'met' : 'NOT MET'})`
    process.stdout.write(
      `${name}: ${median.toFixed(2)} ${unit}, ${min.toFixed(2)} to ${max.toFixed(2)}${judged}\n`,
    )
  }
}
