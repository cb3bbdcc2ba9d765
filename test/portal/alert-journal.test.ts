import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { Deliveries } from '../../src/portal/alerts/deliveries.ts'
import { type Alert, Journal } from '../../src/portal/alerts/journal.ts'

const disk = vi.hoisted(() => ({ room: Number.POSITIVE_INFINITY }))
/** A disk that has room for so many bytes, and then takes a part of a line. */
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const full = () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  return {
    ...fs,
    writeSync: (file: number, given: string | Buffer, from = 0) => {
      const bytes = Buffer.from(given).subarray(from)
      if (disk.room === 0) throw full()
      const part = bytes.subarray(0, disk.room)
      disk.room -= part.length
      return fs.writeSync(file, part)
    },
  }
})

const folder = mkdtempSync(join(tmpdir(), 'assay-journal-'))
afterAll(() => rmSync(folder, { recursive: true }))
const journals: Journal[] = []
afterEach(() => {
  disk.room = Number.POSITIVE_INFINITY
  for (const journal of journals.splice(0)) journal.close()
})
let made = 0
function opened() {
  const path = join(folder, `${made++}.jsonl`)
  const journal = new Journal(path, 0)
  journals.push(journal)
  return { path, journal }
}
const alertOf = (id: string): Alert => ({
  ...{ id, account: 'a', type: 'credits.below', needs: [], data: {} },
})
const webhook = { id: 'hook', url: 'https://a.example', secrets: [Buffer.alloc(32)] }

test('an attempt that a full disk does not keep is waited for like any other', async () => {
  const { journal } = opened()
  journal.add(alertOf('one'), ['hook'], 0)
  disk.room = 0
  const log: string[] = []
  let nowMs = 1000
  const posted: number[] = []
  const deliveries = new Deliveries(
    async () => posted.push(nowMs) && 500,
    () => nowMs,
    (line) => log.push(line),
  )
  for (; nowMs < 5000; nowMs += 1000) {
    deliveries.begin(journal, [webhook])
    await deliveries.end()
  }
  expect(posted).toEqual([1000])
  expect(log).toEqual(['alerts.file: ENOSPC: no space left on device'])
  expect(journal.alerts.get('one')!.deliveries.get('hook')).toMatchObject({ attempts: 1 })
})

test('an alert that a full disk does not keep is not known, so it is never sent', () => {
  const { journal } = opened()
  disk.room = 10
  expect(() => journal.add(alertOf('one'), ['hook'], 0)).toThrow('ENOSPC')
  expect(journal.alerts.size).toBe(0)
})

test('a line of which a full disk kept a part does not spoil the next', () => {
  const { path, journal } = opened()
  disk.room = 30
  expect(() => journal.add(alertOf('one'), ['hook'], 0)).toThrow('ENOSPC')
  disk.room = Number.POSITIVE_INFINITY
  journal.add(alertOf('two'), ['hook'], 0)
  expect([...journal.alerts.keys()]).toEqual(['two'])
  expect([...new Journal(path, 0).alerts.keys()]).toEqual(['two'])
})

const statesOf = ({ alerts }: Journal) =>
  [...alerts].map(([id, { atMs, deliveries }]) => [id, atMs, [...deliveries]])

test('a file that was emptied keeps when it began, and what was said and delivered', () => {
  const { path, journal } = opened()
  for (const id of ['delivered', 'waiting', 'gone', 'new']) journal.add(alertOf(id), ['hook'], 5)
  journal.attempted('delivered', 'hook', 500, 1000)
  journal.attempted('delivered', 'hook', 204, 9000)
  for (const nowMs of [1000, 9000]) journal.attempted('waiting', 'hook', 'ECONNREFUSED', nowMs)
  journal.attempted('gone', 'hook', 410, 1000)
  const before = statesOf(journal)
  truncateSync(path)
  expect(journal.add(alertOf('delivered'), ['hook'], 11)).toBe(false)
  expect(journal.add(alertOf('two'), ['hook'], 12)).toBe(true)
  const two = ['two', 12, [['hook', { state: 'pending', attempts: 0, status: null, dueMs: 12 }]]]
  expect(statesOf(journal)).toEqual([...before, two])
  const after = new Journal(path, 15)
  journals.push(after)
  expect([after.beganMs, statesOf(after)]).toEqual([0, [...before, two]])
})

test('a file that was emptied and a disk that is full lose nothing that is known', () => {
  const { path, journal } = opened()
  journal.add(alertOf('one'), ['hook'], 5)
  journal.attempted('one', 'hook', 204, 9)
  const before = statesOf(journal)
  truncateSync(path)
  disk.room = 60
  expect(() => journal.add(alertOf('two'), ['hook'], 12)).toThrow('ENOSPC')
  expect(statesOf(journal)).toEqual(before)
  disk.room = Number.POSITIVE_INFINITY
  journal.add(alertOf('two'), ['hook'], 13)
  const after = new Journal(path, 15)
  journals.push(after)
  expect(statesOf(after).slice(0, 1)).toEqual(before)
  expect([...after.alerts.keys()]).toEqual(['one', 'two'])
})

test('an attempt is kept if a file that was emptied takes what is known and no more', () => {
  const { path, journal } = opened()
  journal.add(alertOf('one'), ['hook'], 5)
  disk.room = readFileSync(path).length + 5
  truncateSync(path)
  expect(() => journal.attempted('one', 'hook', 204, 9)).toThrow('ENOSPC')
  expect(journal.alerts.get('one')!.deliveries.get('hook')).toMatchObject({
    state: 'delivered',
    attempts: 1,
  })
})

test('an attempt counts once if somebody asks for the alert again meanwhile', () => {
  const { path, journal } = opened()
  journal.add(alertOf('one'), ['hook'], 5)
  journal.attempted('one', 'hook', 500, 9)
  appendFileSync(path, `${JSON.stringify({ at: 10, replay: 'one' })}\n`)
  journal.attempted('one', 'hook', 500, 11)
  expect(journal.alerts.get('one')!.deliveries.get('hook')).toMatchObject({ attempts: 1 })
  appendFileSync(path, `${JSON.stringify({ at: 12, replay: 'one' })}\n`)
  disk.room = 0
  expect(() => journal.attempted('one', 'hook', 204, 13)).toThrow('ENOSPC')
  expect(journal.alerts.get('one')!.deliveries.get('hook')).toMatchObject({ state: 'delivered' })
})
