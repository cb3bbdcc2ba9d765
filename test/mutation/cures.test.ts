import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root, textOf } from '../nearest.ts'
import { cures } from './cures.ts'

test.each(cures)(
  'the line that cures "$kind" stands once in $file, and its test exists',
  (cure) => {
    expect(textOf(cure.file).split(cure.is)).toHaveLength(2)
    expect(existsSync(join(root, cure.test))).toBe(true)
  },
)
