import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Finding } from '../../src/audit/verdict.ts'
import { jsonOf } from '../../src/user/json.ts'
import type { QuietVariant } from './sold-quiet.ts'

const row = z.object({
  variant: z.string(),
  seed: z.number(),
  /** Of each rule. */
  told: z.record(z.string(), z.string()),
  /** What each rule said that failed. */
  failed: z.record(z.string(), z.string()),
})
type Row = z.infer<typeof row>

export interface SoldTable {
  readonly variants: readonly Pick<QuietVariant, 'name'>[]
  readonly seeds: readonly number[]
  /** Keeps each play: those that it has are not played again. Null for none. */
  readonly rowsPath: string | null
  readonly play: (name: string, seed: number) => Promise<ReadonlyMap<string, Finding>>
  readonly print: (line: string) => void
}

const shown = ['pass', 'inconclusive', 'fail'] as const

/**
 * How often each rule passes, leaves open and fails honest services. A file of rows can be filled in parts: what a rule says
 * changes with its code, so another commit takes another file.
 *
 * @returns how many verdicts failed
 */
export async function soldTable(table: SoldTable): Promise<number> {
  const { variants, seeds, rowsPath, play, print } = table
  const known = new Map(
    rowsIn(rowsPath).map((each) => [JSON.stringify([each.variant, each.seed]), each]),
  )
  let alarms = 0
  for (const { name } of variants) {
    const rows: Row[] = []
    for (const seed of seeds) {
      const before = known.get(JSON.stringify([name, seed]))
      const played = before ?? rowOf(name, seed, await play(name, seed))
      if (before === undefined && rowsPath !== null)
        appendFileSync(rowsPath, `${JSON.stringify(played)}\n`)
      rows.push(played)
      for (const [rule, said] of Object.entries(played.failed)) {
        alarms++
        print(`    seed ${seed}: ${rule} ${said}`)
      }
    }
    for (const rule of new Set(rows.flatMap(({ told }) => Object.keys(told)))) {
      const counts = shown.map((each) => rows.filter(({ told }) => told[rule] === each).length)
      if (counts.some((count) => count > 0))
        print(`${name.padEnd(36)}${rule.padEnd(10)}${counts.join(' / ')}`)
    }
  }
  return alarms
}

function rowOf(variant: string, seed: number, verdicts: ReadonlyMap<string, Finding>): Row {
  const all = [...verdicts]
  return {
    variant,
    seed,
    told: Object.fromEntries(all.map(([rule, { verdict }]) => [rule, verdict.verdict])),
    failed: Object.fromEntries(
      all.flatMap(([rule, { verdict }]) =>
        verdict.verdict === 'fail' ? [[rule, JSON.stringify(verdict)]] : [],
      ),
    ),
  }
}

/** The rows of a file; a line that a kill cut off is none. */
function rowsIn(path: string | null): readonly Row[] {
  if (path === null || !existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const read = row.safeParse(jsonOf(line))
      return read.success ? [read.data] : []
    })
}
