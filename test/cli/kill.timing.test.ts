// @module-tag whole
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { journalPath } from '../../src/store/attempts/journal.ts'
import { openStore } from '../../src/store/session/open.ts'
import { main } from '../e2e/command.ts'
import { tries } from '../nightly/tries.ts'
import { answerChat, key, startTarget } from '../run/target.ts'

/** Rows are handed over after 250 ms; if other tests use the cores, a thread waits for its turn. */
const handedOverMs = 250 + 750

/** A hundred random times at night, otherwise three. */
const times = tries(3, 100)

interface Killed {
  readonly answered: number
  /** How many of those ended long enough ago to be handed over. */
  readonly due: number
  readonly kept: number
  readonly distinct: number
  readonly whole: number
  readonly ended: boolean
  readonly verdicts: number
  readonly journalLeft: boolean
}

/** A run at full load that is killed this long after its first request. */
async function killedAfter(ms: number): Promise<Killed> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-kill-'))
  const answeredMs: number[] = []
  const first = Promise.withResolvers<void>()
  const target = await startTarget((_, response) => {
    answerChat(response)
    answeredMs.push(performance.now())
    first.resolve()
  })
  try {
    const [path, db] = [join(folder, 'kill.yaml'), join(folder, 'kill.duckdb')]
    writeFileSync(
      path,
      `name: kill
question: What is left?
model: svc-k2
steps: { chat: { endpoint: chat } }
phases: [{ name: a, load: concurrency, users: 16, duration: 60s }]
`,
    )
    const child = spawn(
      process.execPath,
      [main, 'run', path, '--base-url', target.baseUrl, '--db', db],
      { env: { ...process.env, ASSAY_API_KEY: key }, stdio: 'ignore' },
    )
    const exit = once(child, 'exit')
    await Promise.race([first.promise, exit])
    await sleep(ms)
    const killedMs = performance.now()
    child.kill('SIGKILL')
    expect(await exit).toEqual([null, 'SIGKILL'])
    const store = await openStore(db)
    const [row] = await store.rows<{
      n: number
      ended: number | null
      slots: number
      whole: number
    }>(
      `SELECT count(*)::INTEGER AS n, (SELECT ended_us FROM runs) AS ended, count(DISTINCT slot)::INTEGER AS slots,
         (count(*) FILTER (outcome = 'ok' AND status = 200 AND response_id IS NOT NULL
            AND sent_us <= headers_us AND headers_us <= done_us))::INTEGER AS whole
       FROM attempts`,
    )
    const { findings } = await audit(store, {
      contract: defaultContract,
      auditId: 'kill',
      auditedAt: new Date(0),
    })
    store.close()
    return {
      answered: answeredMs.length,
      due: answeredMs.filter((at) => at < killedMs - handedOverMs).length,
      kept: row!.n,
      distinct: row!.slots,
      whole: row!.whole,
      ended: row!.ended !== null,
      verdicts: findings.length,
      journalLeft: existsSync(journalPath(db)),
    }
  } finally {
    target.close()
    rmSync(folder, { recursive: true })
  }
}

const name =
  'a run that is killed at any moment keeps each row that was handed over, once, and audits'

// Each starts a process and audits the rest of the store: on a shared core that took twelve
// seconds.
test(name, { timeout: 30_000 + times * 15_000 }, async () => {
  const moments = Array.from({ length: times }, () => Math.random() * 1500)
  moments[0] = 1500
  const found: Killed[] = []
  // Two at a time, for two cores.
  const one = async () => {
    for (let ms = moments.pop(); ms !== undefined; ms = moments.pop()) {
      found.push(await killedAfter(ms))
    }
  }
  await Promise.all([one(), one()])
  for (const each of found) {
    expect(each.kept).toBeGreaterThanOrEqual(each.due)
    expect(each.kept).toBeLessThanOrEqual(each.answered)
    expect([each.distinct, each.whole]).toEqual([each.kept, each.kept])
    expect(each.ended).toBe(false)
    expect(each.verdicts).toBeGreaterThan(50)
    expect(each.journalLeft).toBe(false)
  }
  expect(found.filter(({ due }) => due > 0).length).toBeGreaterThan(0)
})
