import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { program } from '../../src/cli/commands/program.ts'

const root = resolve(import.meta.dirname, '../..')
const text = readFileSync(resolve(root, 'docs/features.md'), 'utf8')
const rows = text
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  .map(([, number, feature, assay, command]) => ({
    ...{ number: Number(number), feature: feature!, assay: assay! },
    command: /^`(.+)`$/.exec(command!)?.[1] ?? null,
  }))

test('each of the sixty rows says yes with a command, or no without one', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 60 }, (_, at) => at + 1))
  for (const { feature, assay, command } of rows) {
    expect(assay, feature).toMatch(/^(yes|no)\b/)
    expect([feature, command !== null]).toEqual([feature, assay.startsWith('yes')])
  }
})

const commands = rows.flatMap(({ command }) => (command === null ? [] : [command]))

test('every file that a command names is in the repository', () => {
  const files = commands.flatMap((each) => each.match(/\b(?:scenarios|test)\/[^\s]+/g) ?? [])
  expect(files.length).toBeGreaterThan(30)
  expect(files.filter((file) => !existsSync(resolve(root, file)))).toEqual([])
})

test.each(commands.filter((each) => each.startsWith('assay ')))('%s is understood', (command) => {
  const [, name, ...words] = command.split(' ')
  const found = program().commands.find((each) => each.name() === name)!
  const { operands, unknown } = found.parseOptions(words)
  expect(unknown).toEqual([])
  expect(operands.length).toBeLessThanOrEqual(Math.max(2, found.registeredArguments.length))
})

test('the others are tests', () => {
  const others = commands.filter((each) => !each.startsWith('assay '))
  expect(others.filter((each) => !each.startsWith('npx vitest run test/'))).toEqual([])
})
