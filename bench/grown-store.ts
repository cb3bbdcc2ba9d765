/**
 * Writes a store of any size as a run would have left it: `npx node bench/grown-store.ts ATTEMPTS FILE [SHARD/SHARDS]`.
 * With a shard, it writes its part of them: the attempts of every so many accounts.
 *
 * 64 accounts of eight keys against a service that is right: charges are atomic, windows are fixed, and each
 * answer shows both. Each key sends 240 requests a minute, and 520 of 500 allowed in one minute of eight; 3 to 5
 * requests of an account are in flight, three in ten stream, and its client leaves one in 200. Every second minute
 * begins with a quiet second in which the account's balance is read. The rows go through the recorder in batches.
 */
import { Batch, Dictionary } from '../src/attempt/batch.ts'
import { type AttemptRow, attemptColumns, columnNames } from '../src/attempt/columns.ts'
import { flags } from '../src/attempt/flags.ts'
import { defaultContract } from '../src/contract/default.ts'
import { Recorder } from '../src/store/attempts/recorder.ts'
import { endShard } from '../src/store/runs/run-shards.ts'
import { endRun, startRun } from '../src/store/runs/runs.ts'
import { openStore } from '../src/store/session/open.ts'
import { inSession } from '../src/store/session/session.ts'

const accounts = 64
const keysOfAccount = 8
/** Requests that an account sends in a minute, evenly, and those of its busiest key, of so many in turn. */
const perMinute = 1920
const [hotOf, turn] = [13, 48]
const gapUs = 60e6 / perMinute
/** Turns of the quiet second, and the one that reads the balance. */
const [quietTurns, readTurn] = [32, 16]
const limit = defaultContract.bands.at(-1)!.requests.minute

const startedS = Date.UTC(2026, 10, 2) / 1000
/** A part of the attempts, of so many. */
interface Part {
  readonly shard: number
  readonly shards: number
}

export async function writeGrownStore(
  path: string,
  attempts: number,
  part: Part | null = null,
): Promise<void> {
  const runId = 'grown'
  const store = await openStore(path)
  try {
    await inSession(store, {}, async (session) => {
      const scenarioJson = JSON.stringify(part === null ? {} : { name: runId, thresholds: [] })
      await startRun(session, {
        ...{ runId, kind: 'run', scenario: 'grown', scenarioJson, seed: 1 },
        ...{ baseUrl: 'http://127.0.0.1:1', contract: defaultContract.name },
        ...{ startedAtUs: startedS * 1e6, timeScale: 1, assayVersion: '0', machineJson: '{}' },
        ...(part === null ? {} : { part: startOf(part) }),
      })
      const recorder = await Recorder.open(session, 512)
      const endedUs = await record(recorder, runId, attempts, part ?? { shard: 0, shards: 1 })
      const end = { endedUs, attemptCountsJson: '{}', verdict: 'valid' } as const
      await endRun(session, runId, { ...end, verdictJson: '[]' })
      if (part === null) return
      const verdictJson = JSON.stringify({ rowsHold: true, tests: [], sweeps: [], stopped: null })
      await endShard(session, runId, { ...end, verdictJson, clockErrorUs: 0 })
    })
  } finally {
    store.close()
  }
}

const startOf = ({ shard, shards }: Part) => ({
  ...{ shard, shards, attempt: `try-${shard}` },
  ...{ planHash: 'grown', beganAtUs: startedS * 1e6 },
})

/** @returns when the last of them ended, microseconds of the run */
async function record(
  recorder: Recorder,
  runId: string,
  attempts: number,
  { shard, shards }: Part,
): Promise<number> {
  const rows = new Rows(recorder, runId)
  let slot = 0
  const all = Array.from({ length: accounts }, (_, number): Account => {
    const keys = Array.from({ length: keysOfAccount }, (_, key) => `${number}-${key}`)
    return { number, keys, balance: 1e9, used: new Uint16Array(keysOfAccount) }
  })
  for (let minute = 0; slot < attempts; minute++) {
    for (const { used } of all) used.fill(0)
    for (let at = 0; at < perMinute; at++) {
      const isQuiet = minute % 2 === 0 && at < quietTurns
      if (isQuiet && at !== readTurn) continue
      for (const account of all) {
        if (slot === attempts) break
        if (account.number % shards !== shard) {
          slot++
          continue
        }
        const sentUs = minute * 60e6 + at * gapUs + (account.number * gapUs) / accounts
        rows.begin(slot, Math.floor(sentUs), account)
        if (isQuiet) readBalance(rows, account)
        else generate(rows, account, minute, at)
        rows.end()
        slot++
      }
    }
  }
  await rows.close()
  return rows.lastUs
}

interface Account {
  readonly number: number
  readonly keys: readonly string[]
  balance: number
  /** Requests of each key that its limiter counted in this minute. */
  readonly used: Uint16Array
}

type Values = { readonly [Name in keyof AttemptRow]?: AttemptRow[Name] }

/** Rows on their way to the recorder: cells that nobody sets are those of an empty row. */
class Rows {
  slot = 0
  sentUs = 0
  lastUs = 0
  private readonly recorder: Recorder
  private readonly words = new Dictionary()
  private readonly batch = new Batch()
  private readonly blank: Uint8Array
  private flushedMs = performance.now()

  constructor(recorder: Recorder, runId: string) {
    this.recorder = recorder
    const blank = new Batch()
    const empty = Object.fromEntries(
      columnNames.map((name) => {
        const { nullable, kind } = attemptColumns[name]
        return [name, nullable ? null : kind === 'word' ? '' : 0]
      }),
    ) as unknown as AttemptRow
    const always = { runId, phase: 'main', part: 'steady', expects: 'ok' }
    while (!blank.full) blank.push({ ...empty, ...always }, this.words)
    this.blank = new Uint8Array(blank.buffer)
    new Uint8Array(this.batch.buffer).set(this.blank)
  }

  begin(slot: number, sentUs: number, { number }: Account): void {
    this.slot = slot
    this.sentUs = sentUs
    this.set({
      slot,
      intendedUs: sentUs,
      dispatchedUs: sentUs,
      sentUs,
      account: `account-${number}`,
    })
  }

  set(values: Values): void {
    const { batch } = this
    for (const name in values) {
      const column = name as keyof AttemptRow
      const value = values[column]
      if (typeof value === 'number') batch.columns[column][batch.rows] = value
      else if (column === 'responseId') batch.setText(column, batch.rows, value as string)
      else batch.columns[column][batch.rows] = this.words.codeOf(value as string)
    }
  }

  /** The response ended. */
  answered(headersUs: number, doneUs: number): void {
    const dateS = startedS + Math.floor(headersUs / 1e6)
    this.set({ headersUs, doneUs, closedUs: doneUs, dateS })
    this.lastUs = Math.max(this.lastUs, doneUs)
  }

  end(): void {
    this.batch.rows++
    if (this.batch.full) this.hand()
  }

  private hand(): void {
    const { buffer, rows } = this.batch
    this.recorder.appendBatch(0, { buffer, rows, newWords: this.words.takeNew() })
    this.batch.reset()
    new Uint8Array(buffer).set(this.blank)
    if (performance.now() - this.flushedMs < 1000) return
    this.recorder.flush()
    this.flushedMs = performance.now()
  }

  async close(): Promise<void> {
    if (this.batch.rows > 0) this.hand()
    await this.recorder.close()
  }
}

function readBalance(rows: Rows, { keys, balance }: Account): void {
  rows.set({ step: 'balance', keyFp: keys[0]!, endpoint: 'credits', outcome: 'ok', status: 200 })
  rows.set({ creditsRemaining: balance, bytesIn: 200, flags: flags.jsonType | flags.allowOrigin })
  rows.answered(rows.sentUs + 5000, rows.sentUs + 5000)
}

function generate(rows: Rows, account: Account, minute: number, at: number): void {
  const { slot, sentUs } = rows
  const hot = minute % keysOfAccount
  const key = at % turn < hotOf ? hot : (hot + 1 + (at % (keysOfAccount - 1))) % keysOfAccount
  const streamed = drawn(slot, 1, 10) < 3
  const costCredits = drawn(slot, 2, 10) === 0 ? 2 : 1
  const model = costCredits === 2 ? 'svc-k2.5' : 'svc-k2'
  // Sooner than the next request of the account is decided.
  const decidedUs = sentUs + 2000 + drawn(slot, 3, 20_000)
  const used = ++account.used[key]!
  rows.set({
    step: streamed ? 'stream' : 'chat',
    keyFp: account.keys[key]!,
    endpoint: 'chat',
    model,
  })
  if (streamed) rows.set({ streamed: 1 })
  const endS = (minute + 1) * 60
  const doneUs = decidedUs + 60_000 + drawn(slot, 4, 80_000)
  if (used <= limit && drawn(slot, 5, 200) === 0) {
    rows.set({ outcome: 'aborted', closedUs: doneUs })
    return
  }
  rows.set({
    rateLimit: limit,
    rateRemaining: Math.max(0, limit - used),
    rateReset: startedS + endS,
  })
  if (used > limit) {
    rows.answered(decidedUs, decidedUs)
    rows.set({ outcome: 'http_error', status: 429, bytesIn: 130 })
    rows.set({
      errorShape: 'chat',
      errorCode: 'rate_limit_exceeded',
      errorType: 'rate_limit_error',
    })
    rows.set({ flags: flags.jsonType | flags.allowOrigin })
    rows.set({ retryAfter: Math.ceil(endS - decidedUs / 1e6) })
    return
  }
  account.balance -= costCredits
  const headersUs = streamed ? decidedUs + 1000 : doneUs
  rows.answered(headersUs, doneUs)
  rows.set({ outcome: 'ok', status: 200, creditsRemaining: account.balance, responseModel: model })
  rows.set({ responseId: `chatcmpl-${slot.toString(36)}`, finishReason: 'stop', choices: 1 })
  rows.set({ promptTokens: 40, completionTokens: 20, totalTokens: 60, bytesIn: 400 })
  if (streamed) {
    rows.set({ firstEventUs: headersUs + 100, firstContentUs: headersUs + 200 })
    rows.set({ lastContentUs: doneUs - 100, events: 22, contentEvents: 20, contentReads: 20 })
    rows.set({ doneMarks: 1, itlMaxUs: 4000, flags: flags.sseType | flags.allowOrigin })
  } else {
    rows.set({ firstContentUs: doneUs, lastContentUs: doneUs })
    rows.set({ flags: flags.jsonType | flags.allowOrigin })
  }
}

/** A draw of 0 to `below - 1` that is the same for the same row and salt. */
function drawn(at: number, salt: number, below: number): number {
  const mixed = Math.imul((at + 1) ^ Math.imul(salt, 0x85ebca6b), 0x9e3779b1)
  return ((mixed ^ (mixed >>> 15)) >>> 0) % below
}

if (import.meta.main) {
  const [attempts, path, part] = process.argv.slice(2)
  const began = performance.now()
  const [shard, shards] = (part ?? '').split('/').map(Number)
  await writeGrownStore(
    path!,
    Number(attempts),
    part === undefined ? null : { shard: shard!, shards: shards! },
  )
  const seconds = (performance.now() - began) / 1000
  process.stdout.write(
    `${attempts} attempts in ${seconds.toFixed(1)} s, ${Math.round(Number(attempts) / seconds)} a second\n`,
  )
}
