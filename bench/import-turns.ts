import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { writeUsageLog } from './usage-log.ts'

/**
 * `node bench/import-turns.ts --before CHECKOUT [--events 1] [--rounds 5]`: imports millions of events as CSV and as JSON
 * Lines into a new store, with the command of another checkout and of this one in turns. Prints the seconds of the clock
 * and of the processor, and the ratio of their medians. Other work on the machine changes the first more than the second.
 */
const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    events: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '5' },
  },
})
if (values.before === undefined) throw new Error('--before: expected the folder of a checkout')
const checkouts = { before: resolve(values.before), now: resolve(import.meta.dirname, '..') }
const events = Math.round(Number(values.events) * 1e6)
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-import-'))

interface Seconds {
  readonly clock: number
  readonly processor: number
}

try {
  for (const format of ['csv', 'jsonl'] as const) {
    const file = join(folder, `log.${format}`)
    await writeUsageLog({ file, format, events, keys: 2000, accounts: 500, models: 40 })
    const turns: Record<keyof typeof checkouts, Seconds[]> = { before: [], now: [] }
    for (let round = 0; round < Number(values.rounds); round++) {
      const order = ['before', 'now'] as const
      for (const which of round % 2 === 0 ? order : order.toReversed()) {
        turns[which].push(imported(checkouts[which], file))
      }
    }
    for (const what of ['clock', 'processor'] as const) {
      const [before, now] = (['before', 'now'] as const).map((which) =>
        median(turns[which].map((each) => each[what])),
      )
      console.log(
        `${format.padEnd(6)} ${what.padEnd(10)} before ${before!.toFixed(2)} s, now ${now!.toFixed(2)} s: ${(now! / before!).toFixed(2)}`,
      )
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}

function imported(checkout: string, file: string): Seconds {
  const db = join(folder, 'store.duckdb')
  for (const name of [db, `${db}.wal`]) rmSync(name, { force: true })
  const assay = join(checkout, 'src/cli/main.ts')
  const said = execFileSync(
    'bash',
    [
      '-c',
      `TIMEFORMAT='%R %U %S'; { time "$0" "$1" import "$2" --map assay --source log --db "$3" >/dev/null 2>&1; } 2>&1`,
      ...[process.execPath, assay, file, db],
    ],
    { encoding: 'utf8' },
  )
  const [clock, user, system] = said.trim().split(' ').map(Number)
  return { clock: clock!, processor: user! + system! }
}

function median(list: readonly number[]): number {
  const sorted = list.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) / 2
  return (sorted[Math.floor(at)]! + sorted[Math.ceil(at)]!) / 2
}
