import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { type BenchOptions, type BenchResult, figure } from './result.ts'

const main = resolve(import.meta.dirname, '../src/cli/assay.js')
/** At its end the process writes its peak memory in KiB. */
const toldMemory = `process.on('exit', () => process.stderr.write(String(process.resourceUsage().maxRSS)))`

/** Time and peak memory of `assay --help` and of a bare `node`, as whoever types them waits for them. */
export async function start({
  quick,
  rounds = quick ? 3 : 15,
}: BenchOptions): Promise<BenchResult> {
  const help = { ms: [] as number[], mib: [] as number[] }
  const bare = { ms: [] as number[], mib: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    for (const [found, words] of [
      [help, [main, '--help']],
      [bare, ['--eval', '0']],
    ] as const) {
      const loud = ['--import', `data:text/javascript,${encodeURIComponent(toldMemory)}`]
      const began = performance.now()
      spawnSync(process.execPath, words, { stdio: 'ignore' })
      found.ms.push(performance.now() - began)
      const { stderr } = spawnSync(process.execPath, [...loud, ...words], { encoding: 'utf8' })
      found.mib.push(Number(/\d+$/.exec(stderr)?.[0]) / 1024)
    }
  }
  return {
    part: 'start',
    figures: [
      figure('--help', 'ms', help.ms, { text: '< 200', meets: (found) => found < 200 }),
      figure('--help, peak memory', 'MiB', help.mib, {
        text: '< 60',
        meets: (found) => found < 60,
      }),
      figure('node alone', 'ms', bare.ms),
      figure('node alone, peak memory', 'MiB', bare.mib),
    ],
    ratios: {},
    notes: [],
  }
}
