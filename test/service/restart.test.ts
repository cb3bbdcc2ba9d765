import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { Database } from '../../src/service/ledger/database.ts'
import type { ServiceOptions } from '../../src/service/options.ts'
import type { CreditsReport } from '../../src/service/usage/report.ts'
import { manualClock } from './manual-clock.ts'
import { serving, type Target } from './serving.ts'

/** A ledger's file, until the test ends. */
function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-restart-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'ledger.db')
}

/** One life of a service, which is closed after its use. */
async function life<Result>(
  options: ServiceOptions,
  act: (target: Target) => Promise<Result>,
): Promise<Result> {
  const target = await serving(options)
  const result = await act(target)
  await target.service.close()
  return result
}

const report = async (target: Target) =>
  (await (await target.get('/user/credits?limit=1000')).json()) as CreditsReport

/** The ids of a charged request, a rejected one and a read, and the key. */
async function idsOf(target: Target) {
  const { id } = (await (await target.chat()).json()) as { id: string }
  const others = [await target.chat({ model: 'none' }), await target.get('/v1/models')]
  return [id, ...others.map(({ headers }) => headers.get('x-request-id'))]
}

test('no id is repeated after a restart with the same seed, and a new file repeats them all', {
  tags: 'whole',
}, async () => {
  const dataPath = newFile()
  const first = await life({ dataPath }, idsOf)
  const more = [await life({ dataPath }, idsOf), await life({ dataPath }, idsOf)].flat()
  expect(new Set([...first, ...more]).size).toBe(9)
  const noted = await life({ dataPath }, async (target) => (await report(target)).entries)
  const requests = noted.flatMap(({ request_id }) => request_id ?? [])
  expect([requests.length, new Set(requests).size]).toEqual([3, 3])
  expect(await life({ dataPath: newFile() }, idsOf)).toEqual(first)
  expect(await life({}, idsOf)).toEqual(first)
})

test('a file from before starts were counted also gets new ids', async () => {
  const dataPath = newFile()
  const first = await life({ dataPath }, idsOf)
  const sql = new DatabaseSync(dataPath)
  sql.exec('PRAGMA user_version = 0')
  sql.close()
  expect(new Set([...first, ...(await life({ dataPath }, idsOf))]).size).toBe(6)
})

test('time continues after a restart if the clock had been ahead', async () => {
  const dataPath = newFile()
  const endedUs = await life({ dataPath }, async (target) => {
    target.service.operator.advance(40 * 86_400e6)
    expect((await target.chat()).status).toBe(200)
    return target.service.operator.nowUs()
  })
  await life({ dataPath }, async (target) => {
    expect(Math.abs(target.service.operator.nowUs() - endedUs)).toBeLessThan(60e6)
    expect((await target.chat()).status).toBe(200)
    const { consumed, entries } = await report(target)
    expect(consumed).toBe(2)
    const times = entries.map(({ at }) => at)
    expect(times).toEqual([...times].sort().reverse())
  })
})

test('after a restart the clock is not behind the newest account or key', async () => {
  const dataPath = newFile()
  const keyUs = await life({ dataPath }, async ({ service }) => {
    service.operator.advance(86_400e6)
    service.operator.issueKey(1, 'late')
    return service.operator.nowUs()
  })
  await life({ dataPath }, async ({ service }) => {
    expect(service.operator.nowUs()).toBeGreaterThan(keyUs - 10e6)
  })
})

test('a clock that was passed in is not changed', async () => {
  const dataPath = newFile()
  await life({ dataPath }, async () => {})
  await life({ dataPath, clock: manualClock(1e15) }, async ({ service }) => {
    expect(service.operator.nowUs()).toBe(1e15)
  })
})

test('a file is recognised under all its names: two services never share it', () => {
  const dataPath = newFile()
  const first = new Database(dataPath, 'process')
  onTestFinished(() => first.close())
  const link = `${dataPath}-link`
  symlinkSync(dataPath, link)
  expect(() => new Database(link, 'process')).toThrow(/no other service holds/)
})
