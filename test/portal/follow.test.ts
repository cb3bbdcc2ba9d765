import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { openSettings } from '../../src/portal/settings/opened-settings.ts'
import { followSource } from '../../src/portal/source/follow.ts'
import { storeSource } from '../../src/portal/source/store-source.ts'
import { UserError } from '../../src/user/user-error.ts'
import { openStore } from '../store/opened.ts'
import { env, settingsOf } from './portal.ts'

test('a store that a run holds is logged when that begins and when it ends', async () => {
  const store = await openStore(':memory:')
  const source = storeSource(store, defaultContract)
  let reads = 0
  const lines: string[] = []
  const settings = openSettings(settingsOf(), env)
  const portal = await followSource({
    source: {
      ...source,
      mark: () => null,
      copyTo: async (folder) => {
        reads++
        if (reads <= 3) throw new UserError('store-held', 'another process\u001b[2J has it')
        return source.copyTo(folder)
      },
    },
    ...{ settings: () => settings, contract: null, refreshMs: 500 },
    log: (line) => lines.push(line),
  })
  onTestFinished(async () => {
    await portal.close()
    store.close()
  })
  await vi.waitFor(() => expect(reads).toBeGreaterThan(4), 10_000)
  expect(lines).toEqual([
    'the usage could not be read: another process has it',
    'the usage is read again',
  ])
})

test('a line that becomes a refund moves on the page of a customer that is already served', async () => {
  const store = await openStore(':memory:')
  const source = storeSource(store, defaultContract)
  const folder = mkdtempSync(join(tmpdir(), 'assay-refund-'))
  onTestFinished(() => {
    store.close()
    rmSync(folder, { recursive: true })
  })
  await store.execute(
    `INSERT INTO usage_events BY NAME SELECT 'log' AS source, 'r' AS id, 1::BIGINT AS import_no, 1780358400000000::BIGINT AS at_us, 0 AS ingested_us, 'ok' AS outcome,
       'a' AS account, 'adjustment' AS type, 0 AS requests, -5 AS credits`,
  )
  const first = await source.copyTo(folder)
  expect(first.replaced).toHaveLength(1)
  first.done()
  const same = await source.copyTo(folder)
  expect(same.replaced).toEqual([])
  same.done()
  await store.execute(`UPDATE usage_events SET type = 'refund'`)
  expect((await source.copyTo(folder)).replaced).toEqual(first.replaced)
})
