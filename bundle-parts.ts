import { globSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What starts often, with what it imports only once it runs. Each of these loads what it needs from a few files: finding and
 * reading a file takes half a millisecond of CPU, and a run used to load 127.
 */
const starts = {
  command: ['cli/main.ts'],
  run: ['cli/runs/run.ts', 'run/run.ts', 'run/record/record.ts'],
  audit: ['cli/audits/audit.ts', 'audit/audit.ts'],
  report: ['cli/runs/report.ts', 'report/page.ts'],
  figures: ['cli/runs/summary.ts', 'cli/runs/compare.ts', 'report/compare/compare.ts'],
  usage: ['cli/usage/usage.ts', 'report/usage/read.ts'],
  service: ['public/service.ts', 'service/start.ts'],
  store: ['public/store.ts'],
  library: ['index.ts', 'public/*.ts'],
  rate: ['audit/rate.worker.ts'],
  drawing: ['service/pages/draw.worker.ts'],
} as const

/** The command's own module waits for what it starts, so no other file may import it. */
const alone = /\/cli\/main\.ts$/

/** Only pages need charts, so they stay files of their own. */
const charts = /\/node_modules\/(vega|d3-|topojson)/

/** What all encodings share is a file of its own, so that an audit that counts tokens does not load the service. */
const counting = /\/node_modules\/gpt-tokenizer\/(?!.*(encoding\/|bpeRanks))/

export interface Part {
  readonly name: string
  readonly priority: number
  test(id: string): boolean
}

/**
 * The parts of the bundle: modules that the same starts need are one file. What a module imports is needed by the same starts
 * or by more, so files do not import each other in circles. Modules that no start needs are left to the bundler.
 *
 * @param imports the modules that each module imports as it is loaded
 */
export function partsOf(sources: string, imports: ReadonlyMap<string, readonly string[]>): Part[] {
  const users = new Map<string, string[]>()
  for (const [start, patterns] of Object.entries(starts)) {
    const files = globSync([...patterns], { cwd: sources }).map((file) => join(sources, file))
    for (const id of loadedBy(files, imports)) {
      if (!alone.test(id) && !charts.test(id) && !counting.test(id))
        users.set(id, [...(users.get(id) ?? []), start])
    }
  }
  const nameOf = new Map([...users].map(([id, names]) => [id, names.join('-')]))
  const mostUsersFirst = [...new Set(nameOf.values())].toSorted(
    (a, b) => b.split('-').length - a.split('-').length,
  )
  return [
    { name: 'counting', priority: mostUsersFirst.length + 1, test: (id) => counting.test(id) },
    ...mostUsersFirst.map((name, at) => ({
      name,
      priority: mostUsersFirst.length - at,
      test: (id: string) => nameOf.get(id) === name,
    })),
  ]
}

/** Modules, and all that they import. */
function loadedBy(
  modules: readonly string[],
  imports: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> {
  const loaded = new Set(modules)
  for (const id of loaded)
    for (const each of imports.get(id) ?? []) if (imports.has(each)) loaded.add(each)
  return loaded
}
