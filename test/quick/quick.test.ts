import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { root } from '../nearest.ts'

test('a file that is not there is an error of the quick check, not a pass of no test', () => {
  const words = ['test/quick/quick.ts', 'src/none.ts']
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: root,
    encoding: 'utf8',
  })
  expect([status, stdout, stderr]).toEqual([2, '', 'check:quick: there is no src/none.ts\n'])
})
