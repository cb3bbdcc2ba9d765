import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { userErrorCodes } from '../../src/user/user-error.ts'

test('docs/errors.md lists every code with its meaning and exit code', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8')
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| (.+) \| (\d) \|$/gm)].map(
    ([, code, meaning, exit]) => [code, meaning, exit],
  )
  expect(rows).toEqual(
    Object.entries(userErrorCodes).map(([code, meaning]) => [
      code,
      meaning,
      code === 'unreachable' ? '4' : '2',
    ]),
  )
})
