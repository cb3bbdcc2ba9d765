import { expect, test } from 'vitest'
import type { AnyCommand } from '../../src/cli/commands/command.ts'
import { program } from '../../src/cli/commands/program.ts'

const commands = program().commands.flatMap((command) => [command, ...command.commands])

function helpOf(command: AnyCommand): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text
}

const examplesOf = (command: AnyCommand) =>
  [...helpOf(command).matchAll(/^ {2}assay (.+)$/gm)].map(([, example]) => example!)

test.each(commands.map((command) => [command.name(), command] as const))(
  'the help of %s has two examples and names ASSAY_API_KEY',
  (_, command) => {
    expect(examplesOf(command).length).toBeGreaterThanOrEqual(2)
    expect(helpOf(command)).toMatch(/^(The API key comes from|.* needs no) ASSAY_API_KEY/m)
  },
)

test.each(commands.flatMap((command) => examplesOf(command).map((example) => [example] as const)))(
  'the example "assay %s" parses',
  (example) => {
    // `>` and what follows belong to the shell.
    const words = [...example.replace(/ >.*/, '').matchAll(/"([^"]*)"|\S+/g)].map(
      (match) => match[1] ?? match[0],
    )
    let parsed = ''
    const assay = program()
    for (const command of assay.commands.flatMap((each) => [each, ...each.commands])) {
      command.configureOutput({ writeErr: () => {} }).action(() => {
        parsed = command.name()
      })
    }
    assay.parse(words, { from: 'user' })
    expect(words.slice(0, 2)).toContain(parsed)
  },
)

test.each([
  [
    'report lunch',
    "error: command-argument value 'lunch' is invalid for argument 'page'. Did you mean launch?\n",
  ],
  [
    'audit --format sarf',
    "error: option '--format <format>' argument 'sarf' is invalid. Did you mean sarif?\n",
  ],
  [
    'usage --by day',
    "error: option '--by <what>' argument 'day' is invalid. Known: model, key, endpoint, account.\n",
  ],
])('assay %s suggests the value that was probably meant', (line, expected) => {
  let written = ''
  const assay = program()
  for (const command of assay.commands) {
    command.configureOutput({ writeErr: (part) => (written += part) })
  }
  expect(() => assay.parse(line.split(' '), { from: 'user' })).toThrow(expected.trim())
  expect(written).toBe(expected)
})

test('the first word of a line makes only the command that it names, and every command if it names none', () => {
  const madeFor = (word?: string) => program(word).commands.map((command) => command.name())
  const all = madeFor()
  expect(all).toContain('audit')
  // Completion reads the options of all.
  for (const name of all) expect(madeFor(name)).toEqual(name === 'completion' ? all : [name])
  expect(madeFor('--help')).toEqual(all)
  expect(madeFor('toString')).toEqual(all)
})
