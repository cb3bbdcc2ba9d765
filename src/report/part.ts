import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type ChartSpec, parseChart } from '../chart/spec.ts'
import { userError } from '../user/user-error.ts'
import { type Front, readFront } from './front.ts'

/** A query of a page, with its chart if it has one. */
export interface Part {
  /** `03-time-to-first-token`: the position on the page, and the anchor. */
  readonly name: string
  readonly sql: string
  readonly front: Front
  /** Null for a table. */
  readonly chart: ChartSpec | null
}

/**
 * Reads the parts of a page from its folders: `NN-name.sql`, and for a chart also `NN-name.vl.json`. They are in the
 * order of their names. A part in a later folder replaces one with the same name.
 *
 * @throws UserError for a missing folder, a chart without a query, or a table without a title
 */
export function readParts(folders: readonly string[]): readonly Part[] {
  const parts = new Map<string, Part>()
  for (const folder of folders) {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw userError.report(`no folder ${folder}: expected charts in it`)
    const files = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [] : [entry.name],
    )
    for (const file of files) {
      const name = file.replace(/\.(sql|vl\.json)$/, '')
      if (file.endsWith('.vl.json') && !files.includes(`${name}.sql`)) {
        throw userError.report(
          `${join(folder, file)} has no query: expected ${name}.sql next to it`,
        )
      }
      if (file.endsWith('.sql')) parts.set(name, readPart(folder, name, files))
    }
  }
  return [...parts.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

function readPart(folder: string, name: string, files: readonly string[]): Part {
  const path = join(folder, `${name}.sql`)
  const sql = readFileSync(path, 'utf8')
  const front = readFront(sql, path)
  const picture = `${name}.vl.json`
  if (!files.includes(picture)) {
    if (front.title === undefined) {
      throw userError.report(
        `${path} is a table without a title: expected "-- title: …" at its head`,
      )
    }
    return { name, sql, front, chart: null }
  }
  const from = join(folder, picture)
  return { name, sql, front, chart: parseChart(readFileSync(from, 'utf8'), from) }
}

/**
 * Fills `{unit}` and `{Unit}` in the texts of a part: the unit of the page's amounts. They may stand in titles, notes and
 * formats, but not in expressions, because a unit comes from a log.
 */
export function inUnit({ front, chart, ...part }: Part, unit: string): Part {
  const words = { '{unit}': unit, '{Unit}': `${unit[0]?.toUpperCase() ?? ''}${unit.slice(1)}` }
  return { ...part, front: filled(front, words), chart: filled(chart, words) }
}

/** A copy of JSON with words replaced in its texts. */
function filled<T>(value: T, words: Readonly<Record<string, string>>): T {
  const fill = (text: string) =>
    Object.entries(words).reduce((all, [name, word]) => all.replaceAll(name, () => word), text)
  return JSON.parse(JSON.stringify(value), (_, each) =>
    typeof each === 'string' ? fill(each) : each,
  )
}
