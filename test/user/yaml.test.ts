import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { parseYaml, yamlDocument } from '../../src/user/yaml.ts'

test('a name that stands twice in a mapping is an error with its place, at any depth', () => {
  expect(() => parseYaml('a: 1\nb: { c: 1, d: 2, c: 3 }\n')).toThrow(
    'Map keys must be unique at line 2, column 18',
  )
  expect(() => parseYaml('a: 1\n"a": 2\n')).toThrow('line 2, column 1')
  // One property of an object has both.
  expect(() => parseYaml('1: a\n"1": b\n')).toThrow('line 2, column 1')
  expect(yamlDocument('a: [\n').errors).toHaveLength(1)
  expect(parseYaml('a: { c: 1 }\nb: { c: 1 }\n')).toEqual({ a: { c: 1 }, b: { c: 1 } })
})

test('a name of digits is the text that was written', () => {
  const text = '0042: a\n76561198000000001: b\n1.10: c\n0x1F: d\n123456789e12: e\n? 7\n: f\n'
  const names = ['0042', '76561198000000001', '1.10', '0x1F', '123456789e12', '7']
  expect(Object.keys(parseYaml(text) as object).toSorted()).toEqual(names.toSorted())
  expect(Object.keys(yamlDocument(text, { schema: 'core' }).toJS()).toSorted()).toEqual(
    names.toSorted(),
  )
  expect(yamlDocument('1001: { label: a }\n').getIn(['1001', 'label'])).toBe('a')
  expect(() => parseYaml('0042: a\n"0042": b\n')).toThrow('Map keys must be unique')
  expect(parseYaml('0042: a\n42: b\n')).toEqual({ '0042': 'a', 42: 'b' })
})

test('a merge may stand beside others', () => {
  const text = 'a: &a { x: 1 }\nb: &b { y: 2 }\nc:\n  <<: *a\n  <<: *b\n  z: 3\n'
  expect(parseYaml(text, { merge: true })).toEqual(parse(text, { merge: true }))
})

test('a merge of what is no mapping is an error with its place', () => {
  const told = yamlDocument('a:\n  <<: 5\n', { merge: true }).errors.map(({ message }) => message)
  expect(told).toEqual(['Merge sources must be maps or map aliases at line 2, column 3'])
})

test('an alias that leads nowhere, to too much or to itself is an error with its place', () => {
  expect(() => parseYaml('a: 1\nb: *x\n')).toThrow('No value has the name &x at line 2, column 4')
  // An anchor holds from its place on.
  expect(() => parseYaml('a: *x\nb: &x 1\n')).toThrow('&x at line 1, column 4')
  expect(() => parseYaml('a: &x [1, *x]\n')).toThrow(
    'a value is part of itself; write it out, or leave the alias out at line 1',
  )
  const many = (of: string) => Array.from({ length: 10 }, () => `*${of}`).join()
  const names = ['b', 'c', 'd', 'e', 'f']
  const lines = names.map(
    (name, at) => `${name}: &${name} [${many(at === 0 ? 'a' : names[at - 1]!)}]`,
  )
  expect(() => parseYaml(`a: &a [1]\n${lines.join('\n')}\n`)).toThrow('Excessive alias count')
  expect(parseYaml('a: &x [1]\nb: *x\n')).toEqual({ a: [1], b: [1] })
})

test('any value is read as the library reads it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = stringify(value)
      expect(parseYaml(text)).toEqual(parse(text))
    }),
  )
})
