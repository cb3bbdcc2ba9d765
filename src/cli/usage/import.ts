import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { loadContract } from '../../contract/load.ts'
import { checkTimeZone } from '../../measure/usage/zone.ts'
import { logPrices } from '../../price/price-log.ts'
import { importFile, parseMapping } from '../../public/import.ts'
import { openStore } from '../../public/store.ts'
import { printable } from '../../report/summary/printable.ts'
import { openClickhouse } from '../../store/clickhouse/clickhouse.ts'
import { importToClickhouse } from '../../store/clickhouse/import-log.ts'
import { mustStandApart, type NamedFile } from '../../store/files/files-apart.ts'
import { type FileImported, rejectsOf } from '../../store/import/import-file.ts'
import type { FileImport, Meaning } from '../../store/import/import-options.ts'
import { pageGroups } from '../../store/import/log-pages.ts'
import type { LogSummary } from '../../store/import/log-summary.ts'
import { type Mapping, ownMapping, parseTags, widthPattern } from '../../store/import/mapping.ts'
import { suggestMapping } from '../../store/import/suggest.ts'
import { openSoon } from '../../store/session/open-soon.ts'
import { given } from '../../user/given.ts'
import { counted } from '../../user/grouped.ts'
import { readText } from '../../user/read-text.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/import.ts'
import { exit } from '../terminal/exit.ts'
import { nextLine, sameCommandWithout, storeWords } from '../terminal/next.ts'
import { shown } from '../terminal/progress.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'

/** A server of usage has the store for a moment, after each import. */
const heldMs = 30_000

export async function importAction(files: readonly string[], options: Options): Promise<void> {
  if (options.suggest === true) {
    for (const file of files) process.stdout.write(await suggestMapping(file))
    // A comment, so that the text stays YAML.
    process.stdout.write(
      `# ${nextLine(['import', ...files, '--map', 'mapping.yaml'], 'with this text, read and saved as mapping.yaml')}`,
    )
    return
  }
  mustHaveRoomForRejects(files, options)
  maxRejectsOf(options)
  const { take, close } = await openTarget(options)
  const stop = new AbortController()
  const ignoreSignals = onStopSignal(() => stop.abort())
  let reading = ''
  const runs: (string | null)[] = []
  try {
    // A mapping reads one file at a time; only known logs have pages.
    const groups = options.map === undefined ? await pageGroups(files) : files.map((file) => [file])
    for (const [file, ...pages] of groups) {
      reading = [file, ...pages].join(', ')
      stop.signal.throwIfAborted()
      runs.push(await importOne(take, file!, pages, options, stop.signal))
    }
    if (options.json !== true) process.stdout.write(afterImport(runs, options))
  } catch (error) {
    if (!stop.signal.aborted) throw error
    process.stderr.write(
      `Interrupted: nothing from ${reading} was imported. Import it again; known lines count once.\n`,
    )
    process.exitCode = exit.interrupted
  } finally {
    await close()
    ignoreSignals()
  }
  if (stop.signal.aborted && process.exitCode !== exit.interrupted) {
    process.stderr.write(`Interrupted at the end: all of ${reading} was imported.\n`)
    process.exitCode = exit.interrupted
  }
}

/** @throws UserError if the rejects of a log would replace a log, the store, or those of another log */
function mustHaveRoomForRejects(files: readonly string[], { rejects, db }: Options): void {
  if (rejects !== undefined && files.length > 1) {
    throw userError.usage(
      `--rejects: expected one log, because each log has its own rejects; got ${files.length}. Import them one by one, or leave --rejects out.`,
    )
  }
  const logs = [...new Set(files)].flatMap((path): readonly NamedFile[] => [
    { name: path, path, role: 'input' },
    { name: `the rejects of ${path}`, path: rejectsOf(path, rejects), role: 'output' },
  ])
  mustStandApart([...logs, { name: '--db', path: db, role: 'store' }])
}

async function openTarget({ db, engine, check }: Options) {
  if (engine === undefined) {
    // A check leaves nothing: without a store, no line of the log is known.
    const path = check === true && !existsSync(db) ? ':memory:' : db
    const store = await openSoon(() => openStore(path), heldMs)
    return { take: (file: FileImport) => importFile(store, file), close: () => store.close() }
  }
  const clickhouse = await openClickhouse(engine)
  return {
    take: (file: FileImport) => importToClickhouse(clickhouse, file),
    close: () => clickhouse.close(),
  }
}

/** The next command. @param runs the run that each file became; null for a log of usage */
function afterImport(runs: readonly (string | null)[], options: Options): string {
  const { check, db, engine } = options
  if (check === true) return nextLine(sameCommandWithout('--check'), 'imports it')
  const run = runs.findLast((each) => each !== null) ?? null
  if (run !== null) return nextLine(['summary', run, ...storeWords(db)], 'prints its figures')
  const place = engine === undefined ? storeWords(db) : ['--engine', engine]
  return nextLine(['usage', ...place], 'prints what was used')
}

/** @returns the run that records became; null for a log of usage */
async function importOne(
  take: (file: FileImport) => Promise<FileImported>,
  first: string,
  pages: readonly string[],
  options: Options,
  signal: AbortSignal,
): Promise<string | null> {
  const { map, source, format, rejects, model, partial, check, contract } = options
  const file = [first, ...pages].join(', ')
  const imported = await shown(({ onProgress }) =>
    take({
      file: first,
      pages,
      signal,
      onProgress,
      ...meaningOf(options),
      ...given({ source, format, rejectsFile: rejects, model }),
      ...(map === undefined ? {} : { mapping: mappingOf(map) }),
      ...(contract === undefined ? {} : { prices: logPrices(loadContract(contract)) }),
      partial: partial === true,
      check: check === true,
    }),
  )
  const { kind, ...counts } = imported
  const bad = counts.rejectsFile === null ? [] : [`  rejected lines are in ${counts.rejectsFile}`]
  if (imported.kind === 'records') {
    const { accepted, duplicates, rejected, runId, lacks } = imported
    print(options, counts, [
      duplicates > 0
        ? `${file}: imported before as run ${runId}`
        : `${file}: run ${runId}, ${counted(accepted, 'attempt')}, ${count(rejected)} rejected`,
      ...(check === true ? ['  nothing is imported (--check)'] : []),
      ...lacks.map((lack) => `  lacks ${lack}`),
      ...bad,
    ])
    mustRejectFew(file, rejected, accepted + duplicates + rejected, options)
    return runId
  }
  const { summary } = imported
  print(options, { file, ...counts }, [
    `${file}: ${counted(imported.lines, 'line')} = ${count(imported.accepted)} accepted + ${count(imported.duplicates)} known + ${count(imported.rejected)} rejected`,
    ...(summary === null ? [] : [`  nothing is imported (--check); source ${imported.source}`]),
    ...(summary === null ? [] : summaryLines(summary).map((line) => `  ${line}`)),
    ...imported.notes.map((note) => `  ${printable(note, 400)}`),
    ...bad,
  ])
  mustRejectFew(file, imported.rejected, imported.lines, options)
  return null
}

/** Ends the command with a failure if more lines of a file were rejected than it allows. */
function mustRejectFew(file: string, rejected: number, lines: number, options: Options): void {
  const share = rejected / Math.max(1, lines)
  if (share <= maxRejectsOf(options)) return
  process.exitCode = exit.failed
  process.stderr.write(
    `${file}: ${(share * 100).toFixed(1)} % of its lines were rejected, more than --max-rejects ${options.maxRejects} allows.\n`,
  )
}

function meaningOf(options: Options): Meaning {
  const { bucket, decimal, dateOrder, timezone, ambiguous, cached, tag } = options
  if (timezone !== undefined) checkTimeZone(timezone)
  return {
    ...(bucket === undefined ? {} : { bucket: bucketOf(bucket) }),
    ...given({ decimal, dateOrder, timezone, ambiguous, cached }),
    ...(tag.length === 0 ? {} : { tags: parseTags(tag) }),
  }
}

function bucketOf(bucket: string): string {
  if (widthPattern.test(bucket)) return bucket
  throw userError.usage(`--bucket ${bucket}: expected a width such as 15m, 1h or 1d`)
}

/** What a file holds, as lines of text. */
function summaryLines(summary: LogSummary): readonly string[] {
  const { kind, widthsS, fromUs, toUs, requests, tokens, cost, unknown } = summary
  const iso = (us: number) => new Date(us / 1000).toISOString().replace('.000Z', 'Z')
  const known = (value: number | null) => (value === null ? 'not known' : count(value))
  const costs = Object.entries(cost).map(([unit, amount]) => `${amount} ${unit}`)
  return [
    kind === 'buckets' ? `buckets of ${widthsS.map((s) => widthText(s)).join(', ')}` : kind,
    ...(fromUs === null || toUs === null ? [] : [`from ${iso(fromUs)} to ${iso(toUs)}`]),
    `requests ${known(requests)}`,
    `tokens: ${Object.entries(tokens)
      .map(([name, value]) => `${name} ${known(value)}`)
      .join(', ')}`,
    `cost ${costs.length === 0 ? 'not known' : costs.join(', ')}`,
    ...(unknown.tokens > 0
      ? [`${count(unknown.tokens)} ${unknown.tokens === 1 ? 'request' : 'requests'} without tokens`]
      : []),
    ...(unknown.cost > 0
      ? [`${count(unknown.cost)} ${unknown.cost === 1 ? 'request' : 'requests'} without a cost`]
      : []),
  ]
}

function widthText(s: number): string {
  const [size, name] =
    s % 86_400 === 0 ? [86_400, 'day'] : s % 3600 === 0 ? [3600, 'hour'] : [60, 'minute']
  return `${s / size} ${name}${s === size ? '' : 's'}`
}

function maxRejectsOf({ maxRejects }: Options): number {
  const share = Number(maxRejects)
  if (share >= 0 && share <= 1) return share
  throw userError.usage(`--max-rejects ${maxRejects}: expected a share from 0 to 1, such as 0.01`)
}

function mappingOf(map: string): Mapping {
  if (map === 'assay') return ownMapping
  if (!existsSync(map)) throw userError.usage(`--map ${map}: no such file`)
  const mapping = parseMapping(readText(map), map)
  // A mapping describes one service, and all files of its log.
  return { ...mapping, source: mapping.source ?? basename(map).replace(/\..*$/, '') }
}

function print(options: Options, counts: object, lines: readonly string[]): void {
  process.stdout.write(options.json ? `${JSON.stringify(counts)}\n` : `${lines.join('\n')}\n`)
}

const count = (value: number): string => value.toLocaleString('en-US')
