import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { folded } from './fast-check.ts'

const root = resolve(import.meta.dirname, '..')

describe('what the runner prints of a property that fails', () => {
  /** What it prints of each test, from its name to the next. */
  let printed: Readonly<Record<string, readonly string[]>>
  beforeAll(() => {
    const runner = ['node_modules/vitest/vitest.mjs', 'run', '--config']
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [...runner, 'test/failing/vitest.config.ts'],
      { cwd: root, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } },
    )
    const failures = `${stdout}${stderr}`.split(/^ FAIL .* > /m).slice(1)
    printed = Object.fromEntries(
      failures.map((failure) => {
        const [name, ...lines] = failure.split(/^⎯+\[/m)[0]!.trimEnd().split('\n')
        return [name!, lines]
      }),
    )
  })

  test.each(['of a large case', 'of a text of many letters, awaited', 'of a case of 435 letters'])(
    '%s has at most 40 lines, the seed, and the line of the test',
    (name) => {
      const lines = printed[name]!
      expect(lines[0]).toBe('Error: Property failed after 1 tests')
      expect(lines[1]).toBe('{ seed: 7, path: "0", endOnFailure: true }')
      expect(lines.length).toBeLessThanOrEqual(40)
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(200)
      expect(lines.join('\n')).toMatch(/ ❯ .*test\/failing\/properties\.ts:\d+/)
    },
  )

  test('has what an assertion compared', () => {
    const lines = printed['of a text of many letters, awaited']!.join('\n')
    expect(lines).toMatch(/\nexpected: ""\nreceived: "/)
  })

  test('has each letter of a case that is not large', () => {
    const lines = printed['of a case of 435 letters']!.join('')
    expect(lines).toContain(`Counterexample: ["${'0123456789abcde'.repeat(29)}"]`)
  })
})

test('a small case is whole', () => {
  const small = fc.property(fc.constant({ a: 1 }), () => false)
  expect(() => fc.assert(small)).toThrow('Counterexample: [{"a":1}]')
})

test('a text that is folded says how many letters are left', () => {
  expect(folded('a'.repeat(400), 3)).toBe(
    `${'a'.repeat(160)}\n${'a'.repeat(160)}\n${'a'.repeat(80)}`,
  )
  expect(folded('a'.repeat(400), 2)).toBe(`${'a'.repeat(160)}\n… 240 more letters`)
})
