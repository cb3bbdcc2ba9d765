import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Checkpointer } from '../../src/service/ledger/checkpointer.ts'

test('a checkpointer whose thread has failed closes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-checkpointer-'))
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => {
    stderr.mockRestore()
    rmSync(folder, { recursive: true })
  })
  const checkpointer = new Checkpointer(join(folder, 'missing', 'ledger.db'))
  await vi.waitFor(() => expect(stderr).toHaveBeenCalled(), { timeout: 20_000 })
  const late = Symbol('late')
  const timer = setTimeout(() => {}, 3_000)
  onTestFinished(() => clearTimeout(timer))
  // The thread that has failed ends at once.
  await new Promise((resolve) => setImmediate(resolve))
  const closed = checkpointer.close().then(() => 'closed')
  const end = new Promise((resolve) => setTimeout(resolve, 2_000, late))
  expect(await Promise.race([closed, end])).toBe('closed')
})
