import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../src/run/run.ts'
import { parseScenario } from '../src/scenario/parse.ts'
import type { SafeRate } from '../src/schedule/safe-rate/outcome.ts'
import { firstLine, startOn } from './cores.ts'

const heldPerSOf = (safeRate: SafeRate) => (safeRate.kind === 'held' ? safeRate.heldPerS : 0)

/** Requests per second that the queue serves: one at a time, 20 ms each. */
const capacityPerS = 50

/**
 * How far a sweep's safe rate is from the capacity of a queue, in percent, for each seed. The
 * arrivals are even, so that the queue holds below its capacity and grows without end above it.
 */
export async function sweepErrors(seeds: readonly number[]): Promise<readonly number[]> {
  const server = startOn('0', './queue-server.ts')
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  try {
    const { baseUrl } = await firstLine<{ baseUrl: string }>(server)
    const errors: number[] = []
    for (const seed of seeds) {
      // Each search comes from another side: below, near, above.
      const scenario = parseScenario(
        `
name: sweep
question: Is the capacity found?
seed: ${seed}
model: svc-k2
capture: none
steps: { chat: { endpoint: chat, max_tokens: 16 } }
objectives: { response: 100ms }
phases:
  - name: sweep
    load: sweep
    start: ${11 + seed * 7}/s
    max: 400/s
    cool_down: 300ms
    precision: 2%
    hold: 400
    headroom: 0
    goodput: 95%
    arrivals: constant
`,
        'sweep.yaml',
      )
      const { sweeps } = await run(scenario, {
        baseUrl,
        dbPath: join(folder, `${seed}.duckdb`),
        keys: { default: 'bench' },
      })
      errors.push(Math.abs(heldPerSOf(sweeps[0]!.safeRate) / capacityPerS - 1) * 100)
    }
    return errors
  } finally {
    server.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
