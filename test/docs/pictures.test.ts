import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { pictures } from '../../bench/pictures/list.ts'

const root = resolve(import.meta.dirname, '../..')
const files = pictures.map(({ file }) => file)

test('every picture of docs comes from the list of the command that makes them, and each is used', () => {
  expect(readdirSync(join(root, 'docs/images')).toSorted()).toEqual(files.toSorted())
  const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(root, 'docs', name))
  const text = [join(root, 'README.md'), ...documents]
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const named = [...text.matchAll(/images\/([\w.-]+\.png)/g)].map(([, file]) => file!)
  expect([...new Set(named)].toSorted()).toEqual(files.toSorted())
})

test('no two pictures have one name', () => {
  expect(new Set(files).size).toBe(files.length)
})
