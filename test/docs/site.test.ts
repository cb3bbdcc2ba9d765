import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { sectionsOf } from '../../site/.vitepress/sections.ts'

const docs = resolve(import.meta.dirname, '../../docs')
const sections = sectionsOf(resolve(docs, 'index.md'))

test('the list of all documents, which is the sidebar of the site, has each page once', () => {
  const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && name !== 'index.md' && !name.startsWith('decisions'))
    .map((name) => name.replace(/\.md$/, ''))
  const listed = sections.flatMap((section) => section.pages.map(({ path }) => path))
  expect(listed.toSorted()).toEqual(pages.toSorted())
})

test('each section of that list has a heading and pages with a text', () => {
  expect(sections.map(({ heading }) => heading)).toEqual([
    'Guides',
    'Load',
    'Billing and limits',
    'Usage',
    'The reference service',
    'Reference',
    'Background',
  ])
  expect(sections.every(({ pages }) => pages.length > 0)).toBe(true)
})
