import { attemptColumns, sqlName } from '../../attempt/columns.ts'
import { userError } from '../../user/user-error.ts'
import { beginPart, type Work } from '../../user/work.ts'
import { type Form, forms, numberOf, rowColumns, shared, sharedTables } from '../attempts/layout.ts'
import { PackedBodies, readPackedBodies } from '../attempts/packed-bodies.ts'
import { hasRows } from '../has-rows.ts'
import { literal } from '../literal.ts'
import { isSameFile, reserveFile } from '../session/file.ts'
import { openExistingStore, type Store } from '../session/open.ts'
import { inSession, type Session } from '../session/session.ts'
import { type RunShard, readShards, runIdOfShard, tryId } from './run-shards.ts'
import { metricTables } from './runs.ts'

export interface MergeOptions extends Work {
  /** The stores of the parts. */
  readonly paths: readonly string[]
  /** Whether parts may be missing. Default: false. */
  readonly allowMissing?: boolean
}

/** One try of a shard, and its store. */
interface Try {
  readonly path: string
  readonly shard: RunShard
}

/**
 * Merges the parts of one run from several stores into this store. Parts that it already has are skipped, so they may
 * come in any order, in merged groups, or twice. If a shard has several tries, the first complete one counts. Each
 * other try is kept as a run of its own, because it spent credits.
 *
 * @returns the id of the run
 * @throws UserError for stores without parts, parts of another run, missing parts, or a shard that ran twice at once
 */
export function mergeParts(store: Store, options: MergeOptions): Promise<string> {
  return inSession(store, options, (session) => mergeInto(session, options), {
    writes: 'attempts',
  })
}

async function mergeInto(session: Session, options: MergeOptions): Promise<string> {
  const { paths, allowMissing = false } = options
  const sources: Try[][] = []
  for (const path of paths) {
    if (isSameFile(path, session.path)) continue
    const part = await openExistingStore(path)
    const shards = await inSession(part, {}, (session) => readShards(session)).finally(() =>
      part.close(),
    )
    if (shards.length === 0) {
      throw refused(`${path} holds no part of a run. Record one with assay run --shard.`)
    }
    sources.push(shards.map((shard) => ({ path, shard })))
  }
  const first = sources[0]?.[0]
  if (first === undefined) throw refused('name the stores of the shards, as out/*.duckdb.')
  const runId = runIdOfShard(first.shard.runId)
  const here = (await readShards(session))
    .filter((shard) => runIdOfShard(shard.runId) === runId)
    .map((shard) => ({ path: session.path, shard }))
  if (here.length === 0 && (await hasRows(session, 'runs WHERE run_id = $1', [runId]))) {
    throw refused(`${session.path} holds a run ${runId} of one machine. Use another --db.`)
  }
  const counting = countingOf([here, ...sources].flat(), allowMissing)
  const known = new Set(here.map(({ shard }) => shard.attempt))
  for (const [at, source] of [here, ...sources].entries()) {
    if (at > 0) beginPart(options, `taking ${source[0]!.path}`, at - 1, sources.length)
    for (const [from, tries] of Map.groupBy(source, ({ shard }) => shard.runId)) {
      const late = tries.find(({ shard }) => !counting.has(shard.attempt))
      const { path } = tries[0]!
      const isTaken = path === session.path && from === runId
      if (late !== undefined && (tries.length > 1 || isTaken)) {
        throw refused(
          `${path} counts a try of shard ${late.shard.shard} that another came before. Merge the stores of the shards into a new --db.`,
        )
      }
      const fresh = tries.filter(({ shard }) => !known.has(shard.attempt))
      if (fresh.length === 0) continue
      if (fresh.length < tries.length) {
        throw refused(
          `${path} holds shards that came before with others (${tries.map(({ shard }) => shard.shard).join(', ')}). Merge each shard once, or into a new --db.`,
        )
      }
      await take(session, path, from, late === undefined ? runId : tryId(runId, late.shard))
      for (const { shard } of fresh) known.add(shard.attempt)
    }
  }
  return runId
}

const refused = (why: string) => userError.store(`merge: ${why}`)

/** @returns the `attempt` ids of the tries that count, one per shard */
function countingOf(all: readonly Try[], allowMissing: boolean): ReadonlySet<string> {
  const first = all[0]!
  const runId = runIdOfShard(first.shard.runId)
  for (const { path, shard } of all) {
    if (runIdOfShard(shard.runId) !== runId) {
      throw refused(
        `${first.path} is of run ${runId}, ${path} of run ${runIdOfShard(shard.runId)}. Merge one run at a time.`,
      )
    }
    if (shard.planHash !== first.shard.planHash) {
      throw refused(
        `${first.path} and ${path} ran other plans: scenario, prompts, seed, contract, version and number of shards must be the same.`,
      )
    }
    if (shard.startedAt !== first.shard.startedAt) {
      throw refused(
        `${first.path} and ${path} have other starts: every shard needs the same --start-at.`,
      )
    }
  }
  const shards = Map.groupBy(all, ({ shard }) => shard.shard)
  const missing = Array.from({ length: first.shard.shards }, (_, at) => at).filter(
    (at) => !shards.has(at),
  )
  if (missing.length > 0 && !allowMissing) {
    throw refused(
      `of ${first.shard.shards} shards, ${missing.length} are missing: ${missing.slice(0, 20).join(', ')}. Name their stores, or judge without them by --allow-missing.`,
    )
  }
  return new Set([...shards.values()].map((tries) => firstWhole(tries).shard.attempt))
}

/** The try of a shard that counts: the first complete one, else the first. */
function firstWhole(tries: readonly Try[]): Try {
  const inOrder = tries.toSorted((a, b) => a.shard.beganUs - b.shard.beganUs)
  for (const [at, { path, shard }] of inOrder.entries()) {
    const before = inOrder[at - 1]
    if (before === undefined || before.shard.attempt === shard.attempt) continue
    if (shard.beganUs >= (before.shard.endedUs ?? 0)) continue
    throw refused(
      `shard ${shard.shard} was run twice at once: ${before.path} and ${path}. Both loaded the service and spent credits; name the one that is to count.`,
    )
  }
  return inOrder.find(({ shard }) => isWhole(shard)) ?? inOrder[0]!
}

const isWhole = ({ verdictJson }: RunShard) =>
  (JSON.parse(verdictJson ?? 'null') as { readonly rowsHold?: boolean } | null)?.rowsHold === true

/** Copies a run from another store, all or nothing, under the id `to`. DuckDB attaches the other store. */
async function take(session: Session, path: string, from: string, to: string): Promise<void> {
  const giveBack = reserveFile(path, 'a merge')
  try {
    await session.execute(`ATTACH ${literal(path)} AS part (READ_ONLY)`)
    await copyRun(session, path, from, to)
  } finally {
    giveBack()
  }
}

/** Copies a run from a store that nothing has open, under its own id. */
export const takeRun = (session: Session, path: string, runId: string): Promise<void> =>
  take(session, path, runId, runId)

async function copyRun(session: Session, path: string, from: string, to: string): Promise<void> {
  try {
    await session.execute('BEGIN')
    for (const sql of await copySql(session, to))
      await session.execute(sql, sql.includes('$1') ? [from] : [])
    await copyBodies(session, path, from, to)
    await session.execute('COMMIT')
  } catch (error) {
    await session.execute('ROLLBACK').catch(() => {})
    throw error
  } finally {
    await session.execute('DETACH part')
  }
}

async function copySql(session: Session, to: string): Promise<readonly string[]> {
  const [next] = await session.rows<Record<string, number>>(
    `SELECT ${sharedTables.map((table) => `(SELECT coalesce(max(${numberOf[table]}), -1) + 1 FROM ${table}) AS ${numberOf[table]}`).join(', ')}`,
  )
  const moved = (table: (typeof sharedTables)[number], own = '') =>
    `(${own}${numberOf[table]} + ${next![numberOf[table]]})::INTEGER`
  const renamed = `* REPLACE (${literal(to)} AS run_id)`
  const ofRun = 'request_kind IN (SELECT request_kind FROM part.request_kinds WHERE run_id = $1)'
  const rowsSql = (form: Form) => {
    const cells = rowColumns.map((name) => ({
      sql: sqlName(name),
      text: attemptColumns[name].kind === 'text',
    }))
    if (!form.struct) {
      const numbers = sharedTables.map((table) => moved(table))
      return `SELECT ${[...numbers, ...cells.map(({ sql }) => sql)].join(', ')} FROM part.${form.table} WHERE ${ofRun}`
    }
    const fields = [
      ...sharedTables.map((table) => `"${numberOf[table]}" := ${moved(table, 'own.')}`),
      ...cells.filter(({ text }) => !text).map(({ sql }) => `"${sql}" := own."${sql}"`),
    ]
    const texts = cells.filter(({ text }) => text).map(({ sql }) => sql)
    return `SELECT ${[...texts, `struct_pack(${fields.join(', ')})`].join(', ')} FROM part.${form.table} WHERE own.${ofRun}`
  }
  return [
    `INSERT INTO runs BY NAME SELECT ${renamed} FROM part.runs WHERE run_id = $1
       AND ${literal(to)} NOT IN (SELECT run_id FROM runs)`,
    ...forms.map((form) => `INSERT INTO ${form.table} ${rowsSql(form)}`),
    ...sharedTables.map(
      (table) =>
        `INSERT INTO ${table} (${[numberOf[table], ...shared[table].map(sqlName)].join(', ')}) SELECT ${[moved(table), ...shared[table].map((name) => (name === 'runId' ? literal(to) : sqlName(name)))].join(', ')} FROM part.${table} ${table === 'request_kinds' ? 'WHERE run_id = $1' : ''}`,
    ),
    `INSERT INTO templates BY NAME SELECT ${renamed} FROM part.templates WHERE run_id = $1
       AND template NOT IN (SELECT template FROM templates WHERE run_id = ${literal(to)})`,
    // Rows of the same interval need no merging: every reader adds them up, as it does those of several intervals.
    ...['histograms', 'health', 'run_shards', 'wrong_answers', 'tasks', ...metricTables].map(
      (table) =>
        `INSERT INTO ${table} BY NAME SELECT ${renamed} FROM part.${table} WHERE run_id = $1`,
    ),
  ]
}

async function copyBodies(session: Session, path: string, from: string, to: string): Promise<void> {
  const packed = await session.rows<{ place: number }>(
    'SELECT packed_at AS place FROM part.bodies WHERE run_id = $1 AND packed_at IS NOT NULL ORDER BY place',
    [from],
  )
  const moved = movedBodies(session.path, path, packed)
  const values = ['(-1, -1)', ...moved].join(', ')
  await session.execute(
    `INSERT INTO bodies BY NAME SELECT bodies.* REPLACE (${literal(to)} AS run_id, there AS packed_at) FROM part.bodies
     LEFT JOIN (VALUES ${values}) AS moved(here, there) ON here = packed_at WHERE run_id = $1`,
    [from],
  )
}

/** Bodies per batch: enough to open the file rarely, few enough for memory. */
const atOnce = 64

/** Appends packed bodies to those of another store; each result is `(old place, new place)`. */
function movedBodies(
  to: string,
  from: string,
  packed: readonly { readonly place: number }[],
): readonly string[] {
  if (packed.length === 0) return []
  const moved: string[] = []
  const bodies = new PackedBodies(to)
  try {
    for (let at = 0; at < packed.length; at += atOnce) {
      const places = packed.slice(at, at + atOnce).map(({ place }) => place)
      for (const [nth, body] of readPackedBodies(from, places).entries()) {
        if (body !== null) moved.push(`(${places[nth]}, ${bodies.append(body)})`)
      }
    }
  } finally {
    bodies.close()
  }
  return moved
}
