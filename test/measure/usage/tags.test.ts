import { expect, test } from 'vitest'
import {
  isTagDimension,
  tagDimension,
  tagFilter,
  tagOf,
  tagPointer,
} from '../../../src/measure/usage/tags.ts'

test('a dimension `tag:NAME` is a tag, and no other is', () => {
  expect(tagDimension('team')).toBe('tag:team')
  expect(['tag:team', 'model', 'tag:', 'tag:a=b', 'team'].map(tagOf)).toEqual([
    ...['team', null, null, null, null],
  ])
  expect(['tag:team', 'model', 'tag:a,b'].map(isTagDimension)).toEqual([true, false, false])
})

test('a filter is the name of a tag and its value, which may have colons or nothing', () => {
  expect(tagFilter('team:search')).toEqual({ name: 'team', value: 'search' })
  expect(tagFilter('t:a:b')).toEqual({ name: 't', value: 'a:b' })
  expect(tagFilter('team:')).toEqual({ name: 'team', value: '' })
  expect(['team', ':search', 'a=b:c', ''].map(tagFilter)).toEqual([null, null, null, null])
})

test('the pointer of a tag escapes what a JSON pointer gives a meaning', () => {
  expect(tagPointer('a/b~c/~')).toBe('/a~1b~0c~1~0')
})
