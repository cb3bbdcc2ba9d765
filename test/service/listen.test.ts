import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { startService } from '../../src/service/start.ts'
import { serving } from './serving.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'assay-listen-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('an occupied port is reported as such, with the remedy', async () => {
  const { service } = await serving()
  const port = Number(new URL(service.baseUrl).port)
  await expect(startService({ port })).rejects.toThrow(
    `--port: expected a free port; another program listens on 127.0.0.1:${port}`,
  )
})

test('an address of another machine is reported as such', async () => {
  await expect(startService({ host: '192.0.2.1' })).rejects.toThrow(
    '--host: expected an address of this machine; got "192.0.2.1"',
  )
})

test('a service that could not start releases its ledger', { tags: 'whole' }, async () => {
  const { service } = await serving()
  const port = Number(new URL(service.baseUrl).port)
  const dataPath = join(folder(), 'ledger.db')
  await expect(startService({ port, dataPath })).rejects.toThrow('expected a free port')
  await expect(startService({ dataPath, upstream: { url: 'x' } })).rejects.toThrow('--upstream')
  await (await startService({ dataPath })).close()
})

test.each([
  ['none of our tables', 'songs', 'a database of another program, with tables songs'],
  ['a table by a name of ours', 'accounts', 'no such column: accounts.balance'],
])(
  'a database of another program, with %s, is refused and left unchanged',
  async (_, table, why) => {
    const path = folder()
    const dataPath = join(path, 'theirs.db')
    const theirs = new DatabaseSync(dataPath)
    theirs.exec(`CREATE TABLE ${table} (x)`)
    theirs.close()
    const before = readFileSync(dataPath)
    await expect(startService({ dataPath })).rejects.toThrow(
      `--data: expected a SQLite file that no other service holds; got "${dataPath}": ${why}`,
    )
    expect(readFileSync(dataPath)).toEqual(before)
    expect(readdirSync(path)).toEqual(['theirs.db'])
  },
)

test('a ledger from before a table was added is accepted, and gets the table', async () => {
  const dataPath = join(folder(), 'ledger.db')
  await (await startService({ dataPath })).close()
  const older = new DatabaseSync(dataPath)
  older.exec('DROP TABLE api_keys')
  older.close()
  const { service } = await serving({ dataPath })
  expect(service.keys[0]).toMatchObject({ name: 'band-1', balance: 100 })
})
