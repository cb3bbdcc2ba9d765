import { resolve } from 'node:path'
import { attemptColumns, sqlName } from '../attempt/columns.ts'
import { UserError } from '../user/user-error.ts'
import { literal } from './import/literal.ts'
import { type Form, forms, numberOf, rowColumns, shared, sharedTables } from './layout.ts'
import { openExistingStore, type Store } from './open.ts'
import { PackedBodies, readPackedBodies } from './packed-bodies.ts'
import { type RunShard, readShards } from './run-shards.ts'

interface Source {
  readonly path: string
  readonly shards: readonly RunShard[]
}

/**
 * Takes the parts of one run from several stores into this one. What it has already is not taken
 * again, so parts may come in any order, in groups that were merged before, or twice.
 *
 * @param allowMissing whether parts may be missing
 * @returns the id of the run
 * @throws UserError for parts that are of no run, of another, missing, or there in two tries
 */
export async function mergeParts(
  store: Store,
  paths: readonly string[],
  allowMissing: boolean,
): Promise<string> {
  const sources: Source[] = []
  for (const path of paths) {
    if (resolve(path) === resolve(store.path)) continue
    const part = await openExistingStore(path)
    const shards = await readShards(part).finally(() => part.close())
    if (shards.length === 0) {
      throw refused(`${path} holds no part of a run. Record one with assay run --shard.`)
    }
    sources.push({ path, shards })
  }
  const runId = sources[0]?.shards[0]?.runId
  if (runId === undefined) throw refused('name the stores of the shards, as out/*.duckdb.')
  const here = await readShards(store, runId)
  const held = await store.rows('SELECT 1 FROM runs WHERE run_id = $1', [runId])
  if (here.length === 0 && held.length > 0) {
    throw refused(`${store.path} holds a run ${runId} of one machine. Use another --db.`)
  }
  mustBeOneRun([{ path: store.path, shards: here }, ...sources], allowMissing)
  const known = new Set(here.map(({ shard }) => shard))
  for (const { path, shards } of sources) {
    const fresh = shards.filter(({ shard }) => !known.has(shard))
    if (fresh.length === 0) continue
    if (fresh.length < shards.length) {
      throw refused(
        `${path} holds shards that came before with others (${shards.map(({ shard }) => shard).join(', ')}). Merge each shard once, or into a new --db.`,
      )
    }
    await take(store, runId, path)
    for (const { shard } of fresh) known.add(shard)
  }
  return runId
}

const refused = (why: string) => new UserError('store', `merge: ${why}`)

function mustBeOneRun(sources: readonly Source[], allowMissing: boolean): void {
  const all = sources.flatMap(({ path, shards }) => shards.map((shard) => ({ path, shard })))
  const first = all[0]!
  const seen = new Map<number, (typeof all)[number]>()
  for (const each of all) {
    const { path, shard } = each
    if (shard.runId !== first.shard.runId) {
      throw refused(
        `${first.path} is of run ${first.shard.runId}, ${path} of run ${shard.runId}. Merge one run at a time.`,
      )
    }
    if (shard.planHash !== first.shard.planHash) {
      throw refused(
        `${first.path} and ${path} ran other plans: scenario, prompts, seed, contract, version and number of shards must be the same.`,
      )
    }
    const before = seen.get(shard.shard)
    if (before !== undefined && before.shard.attempt !== shard.attempt) {
      throw refused(
        `shard ${shard.shard} was run twice: ${before.path} and ${path}. Both spent credits; name the one that is to count.`,
      )
    }
    if (shard.startedAt !== first.shard.startedAt) {
      throw refused(
        `${first.path} and ${path} have other starts: every shard needs the same --start-at.`,
      )
    }
    seen.set(shard.shard, each)
  }
  const missing = Array.from({ length: first.shard.shards }, (_, at) => at).filter(
    (at) => !seen.has(at),
  )
  if (missing.length === 0 || allowMissing) return
  throw refused(
    `of ${first.shard.shards} shards, ${missing.length} are missing: ${missing.slice(0, 20).join(', ')}. Name their stores, or judge without them by --allow-missing.`,
  )
}

/** All or nothing of one store, which DuckDB reads beside this one. */
async function take(store: Store, runId: string, path: string): Promise<void> {
  await store.execute(`ATTACH ${literal(path)} AS part (READ_ONLY)`)
  try {
    await store.execute('BEGIN')
    for (const sql of await copySql(store))
      await store.execute(sql, sql.includes('$1') ? [runId] : [])
    await copyBodies(store, runId, path)
    await store.execute('COMMIT')
  } catch (error) {
    await store.execute('ROLLBACK').catch(() => {})
    throw error
  } finally {
    await store.execute('DETACH part')
  }
}

async function copySql(store: Store): Promise<readonly string[]> {
  const [next] = await store.rows<Record<string, number>>(
    `SELECT ${sharedTables.map((table) => `(SELECT coalesce(max(${numberOf[table]}), -1) + 1 FROM ${table}) AS ${numberOf[table]}`).join(', ')}`,
  )
  const moved = (table: (typeof sharedTables)[number], own = '') =>
    `(${own}${numberOf[table]} + ${next![numberOf[table]]})::INTEGER`
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
    `INSERT INTO runs BY NAME SELECT * FROM part.runs WHERE run_id = $1
       AND run_id NOT IN (SELECT run_id FROM runs)`,
    ...forms.map((form) => `INSERT INTO ${form.table} ${rowsSql(form)}`),
    ...sharedTables.map(
      (table) =>
        `INSERT INTO ${table} SELECT ${[moved(table), ...shared[table].map(sqlName)].join(', ')} FROM part.${table} ${table === 'request_kinds' ? 'WHERE run_id = $1' : ''}`,
    ),
    `INSERT INTO templates BY NAME SELECT * FROM part.templates WHERE run_id = $1
       AND template NOT IN (SELECT template FROM templates WHERE run_id = $1)`,
    // Several of one interval add up in every reader, as those of intervals do.
    ...['histograms', 'health', 'run_shards'].map(
      (table) => `INSERT INTO ${table} BY NAME SELECT * FROM part.${table} WHERE run_id = $1`,
    ),
  ]
}

async function copyBodies(store: Store, runId: string, path: string): Promise<void> {
  const packed = await store.rows<{ place: number }>(
    'SELECT packed_at AS place FROM part.bodies WHERE run_id = $1 AND packed_at IS NOT NULL ORDER BY place',
    [runId],
  )
  const moved = movedBodies(store.path, path, packed)
  const values = ['(-1, -1)', ...moved].join(', ')
  await store.execute(
    `INSERT INTO bodies BY NAME SELECT bodies.* REPLACE (there AS packed_at) FROM part.bodies
     LEFT JOIN (VALUES ${values}) AS moved(here, there) ON here = packed_at WHERE run_id = $1`,
    [runId],
  )
}

/** Bodies that are read before the next are: enough to open the file seldom, and few in memory. */
const atOnce = 64

/** Copies packed bodies behind those of another store; each as `(its place, its new place)`. */
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
