import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { readText } from '../../src/user/read-text.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-read-'))
afterAll(() => rmSync(folder, { recursive: true }))
const pipe = join(folder, 'pipe')
const [makePipe = ''] = ['mkfifo']
execFileSync(makePipe, [pipe])

test('a file is read whole, and so is a pipe that ends', () => {
  const file = join(folder, 'a.txt')
  writeFileSync(file, 'é'.repeat(1_000_000))
  expect(readText(file)).toBe('é'.repeat(1_000_000))
  expect(readText(pipe)).toBe('')
})

test.skipIf(!existsSync('/dev/zero'))('a file without end is refused', { tags: 'whole' }, () => {
  expect(() => readText('/dev/zero')).toThrow(
    '/dev/zero: expected at most 512 MB; it has more, or no end.',
  )
})

test('a store that is a pipe is refused instead of waiting for ever', async () => {
  await expect(openStore(pipe)).rejects.toThrow(
    `${pipe} is no file but a folder, a pipe or a device. Use another --db.`,
  )
})
