import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { assay, type Running } from '../e2e/command.ts'
import { answerChat, key, startTarget, type Target } from '../run/target.ts'

/** Terminals that close and log collectors that exit. */
const folder = mkdtempSync(join(tmpdir(), 'assay-away-'))
const scenario = join(folder, 'long.yaml')
let target: Target
let asked = Promise.withResolvers<void>()

beforeAll(async () => {
  target = await startTarget((_, response) => {
    answerChat(response)
    asked.resolve()
  })
  writeFileSync(
    scenario,
    `name: long
question: Does it end as planned?
model: svc-k2
steps: { chat: { endpoint: chat } }
phases: [{ name: a, load: constant, rate: 50/s, duration: 60s }]
`,
  )
})
afterAll(() => {
  target.close()
  rmSync(folder, { recursive: true })
})

/** A run in progress whose first request has arrived. */
async function running(db: string): Promise<Running> {
  asked = Promise.withResolvers()
  const run = assay(['run', scenario, '--base-url', target.baseUrl, '--db', db], {
    env: { ASSAY_API_KEY: key },
  })
  await asked.promise
  return run
}

async function endOf(db: string) {
  const store = await openStore(db)
  const [row] = await store.rows<{ rows: number; ended: boolean }>(
    `SELECT count(*)::INTEGER AS rows, (SELECT ended_us IS NOT NULL FROM runs) AS ended FROM attempts`,
  )
  store.close()
  return row!
}

test('a run continues to its summary after the reader of its standard error exits', {
  tags: 'whole',
}, async () => {
  const db = join(folder, 'stderr.duckdb')
  const run = await running(db)
  run.child.stderr!.destroy()
  run.child.kill('SIGINT')
  const { code, stdout } = await run.ended
  expect(code).toBe(130)
  expect(stdout).toContain('Does it end as planned?')
  const { rows, ended } = await endOf(db)
  expect(ended).toBe(true)
  expect(rows).toBeGreaterThan(0)
})

test('a run continues after the reader of its standard output exits', {
  tags: 'whole',
}, async () => {
  const db = join(folder, 'stdout.duckdb')
  const run = await running(db)
  run.child.stdout!.destroy()
  run.child.kill('SIGINT')
  expect(await run.ended).toMatchObject({ code: 130 })
  expect(await endOf(db)).toMatchObject({ ended: true })
})

test('SIGHUP from a closed terminal drains a run like SIGTERM', { tags: 'whole' }, async () => {
  const db = join(folder, 'hangup.duckdb')
  const run = await running(db)
  run.child.kill('SIGHUP')
  const { code, stderr } = await run.ended
  expect(code).toBe(130)
  expect(stderr).toContain('Draining')
  expect(await endOf(db)).toMatchObject({ ended: true })
})

test('SIGHUP ends a service and a watch cleanly', { tags: 'whole' }, async () => {
  const service = assay(['serve', '--json', '--port', '0'])
  const { baseUrl, keys } = JSON.parse(await service.firstLine())
  const watch = assay(
    ['usage', 'watch', '--base-url', baseUrl, '--db', join(folder, 'watch.duckdb')],
    { env: { ASSAY_API_KEY: keys[0].apiKey } },
  )
  await watch.firstLine()
  watch.child.kill('SIGHUP')
  expect((await watch.ended).code).toBe(130)
  service.child.kill('SIGHUP')
  expect((await service.ended).code).toBe(0)
})

test('SIGHUP during an import imports nothing, and a message says so', {
  tags: 'whole',
}, async () => {
  const [log, map] = [join(folder, 'log.jsonl'), join(folder, 'map.yaml')]
  const line = (id: number) =>
    `{"id":"${id}","at":"2026-01-01T00:00:00Z","model":"svc-k2","credits":1,"status":200}`
  writeFileSync(log, `${Array.from({ length: 400_000 }, (_, id) => line(id)).join('\n')}\n`)
  writeFileSync(
    map,
    'fields: { time: at, id: id, model: model, credits: credits, status: status }\n',
  )
  const db = join(folder, 'import.duckdb')
  const command = assay(['import', log, '--map', map, '--db', db])
  while (!existsSync(`${db}.import`) && command.child.exitCode === null) await sleep(2)
  command.child.kill('SIGHUP')
  const { code, stderr } = await command.ended
  expect(stderr).toBe(
    `Interrupted: nothing from ${log} was imported. Import it again; known lines count once.\n`,
  )
  expect(code).toBe(130)
  expect(existsSync(`${db}.import`)).toBe(false)
  const store = await openStore(db)
  expect(await store.rows('SELECT count(*)::INTEGER AS n FROM usage_events')).toEqual([{ n: 0 }])
  store.close()
})

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s ends a command without an end of its own with a word, and 130',
  async (signal) => {
    const module = resolve(import.meta.dirname, '../../src/cli/terminal/stop-signals.ts')
    const child = spawn(process.execPath, [
      ...['--input-type=module', '-e'],
      `import { endAtStopSignals } from ${JSON.stringify(module)}
     endAtStopSignals()
     setInterval(() => {}, 1000)
     console.log('up')`,
    ])
    let said = ''
    child.stderr.on('data', (data: Buffer) => {
      said += data.toString()
    })
    await once(child.stdout, 'data')
    child.kill(signal)
    const [code] = await once(child, 'close')
    expect([code, said]).toEqual([130, `Interrupted by ${signal}.\n`])
  },
)

test('a check of a log leaves no store where there was none', { tags: 'whole' }, async () => {
  const inner = mkdtempSync(join(folder, 'check-'))
  const [log, map] = [join(inner, 'log.jsonl'), join(inner, 'map.yaml')]
  writeFileSync(log, '{"id":"1","at":"2026-01-01T00:00:00Z","model":"svc-k2"}\n')
  writeFileSync(map, 'fields: { time: at, id: id, model: model }\n')
  const db = join(inner, 'assay.duckdb')
  const { code, stdout } = await assay(['import', log, '--map', map, '--db', db, '--check']).ended
  expect([code, stdout.split('\n')[0]]).toEqual([
    0,
    `${log}: 1 line = 1 accepted + 0 known + 0 rejected`,
  ])
  expect(readdirSync(inner).toSorted()).toEqual(['log.jsonl', 'map.yaml'])
})
