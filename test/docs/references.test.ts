import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { references } from '../../reference/write.ts'

test.each(Object.keys(references))('docs/%s matches the output of npm run reference', (name) => {
  const written = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
  expect(written).toBe(references[name]!())
})
