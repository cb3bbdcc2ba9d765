import { parseMoment } from '../../measure/usage/zone.ts'
import { closeDays } from '../../report/usage/engine/clickhouse.ts'
import { openClickhouse } from '../../store/clickhouse/clickhouse.ts'
import { tablesSql } from '../../store/clickhouse/tables.ts'
import { userError } from '../../user/user-error.ts'
import type { CloseOptions, InitOptions } from '../commands/usage.ts'
import { nextLine, sayNextToPerson } from '../terminal/next.ts'

export async function initAction({ engine, cluster, print }: InitOptions): Promise<void> {
  const statements = tablesSql(cluster ?? null)
  if (print) {
    process.stdout.write(`${statements.join(';\n\n')};\n`)
    sayNextToPerson(['usage', 'init', '--engine', engine ?? 'URL'], 'runs the statements')
    return
  }
  const url = needed('--engine', engine)
  const clickhouse = await openClickhouse(url)
  try {
    for (const statement of statements) await clickhouse.command(statement)
    process.stdout.write(
      `${clickhouse.name}: ${statements.length} tables exist\n${nextLine(['import', 'usage.jsonl', '--engine', url], 'imports a log of usage')}`,
    )
  } finally {
    await clickhouse.close()
  }
}

export async function closeAction({ engine, from, to }: CloseOptions): Promise<void> {
  const toUs = parseMoment(needed('--to', to), 'UTC')
  const url = needed('--engine', engine)
  const clickhouse = await openClickhouse(url)
  try {
    const fromUs = from === undefined ? null : parseMoment(from, 'UTC')
    const days = await closeDays(clickhouse, fromUs, toUs)
    process.stdout.write(
      `${clickhouse.name}: ${days === 1 ? '1 day is' : `${days} days are`} stored as quarters of an hour\n${nextLine(['usage', '--engine', url], 'prints what was used')}`,
    )
  } finally {
    await clickhouse.close()
  }
}

/** Checked here, because `usage` has the same options and requires none. */
function needed(option: string, value: string | undefined): string {
  if (value === undefined) throw userError.usage(`${option} is required; see assay usage --help`)
  return value
}
