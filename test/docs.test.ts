import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { AnyCommand } from '../src/cli/commands/command.ts'
import { defaultContract, parseScenario } from '../src/index.ts'
import { judgedNames } from '../src/measure/measures.ts'
import { metricNames } from '../src/scenario/threshold.ts'

const root = resolve(import.meta.dirname, '..')
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

/** The code blocks of a page in some languages; `` for a block without a language. */
function blocksIn(page: string, languages: readonly string[]): readonly string[] {
  const text = readFileSync(join(root, page), 'utf8')
  const blocks = text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)
  return [...blocks].filter(([, name]) => languages.includes(name!)).map(([, , code]) => code!)
}

/** Every `assay <command> …` that a page shows in a block of shell. */
function commandsIn(page: string): readonly (readonly string[])[] {
  return blocksIn(page, ['sh', 'bash', 'console'])
    .flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'))
    .map((line) => line.replace(/^\$ /, '').replace(/#.*$/, ''))
    .flatMap((line) => line.split(/&&|\||;/))
    .map((part) => part.trim().replace(/^(\w+=\S+ )+/, ''))
    .filter((part) => /^(npx )?assay \w/.test(part))
    .map((part) => part.replace(/^npx /, '').split(/\s+/).slice(1))
}

async function commandNamed(name: string): Promise<AnyCommand | null> {
  const file = join(root, 'src/cli/commands', `${name}.ts`)
  const module = (await import(file).catch(() => null)) as Record<string, () => AnyCommand> | null
  return module?.[`${name}Command`]?.() ?? null
}

test.each(pages)('every command and option that %s shows exists', async (page) => {
  const wrong: string[] = []
  for (const words of commandsIn(page)) {
    let command = await commandNamed(words[0]!)
    if (command === null) {
      wrong.push(`assay ${words[0]}`)
      continue
    }
    for (const word of words.slice(1)) {
      command = command.commands.find((each) => each.name() === word) ?? command
      const flag = /^--[\w-]+/.exec(word)?.[0]
      const known = command.options.some((option) => option.long === flag)
      if (flag !== undefined && flag !== '--help' && !known) wrong.push(words.join(' '))
    }
  }
  expect(wrong).toEqual([])
})

test.each(pages)('commands of %s run as shown: assay is not on the PATH', (page) => {
  const bare = blocksIn(page, ['', 'sh', 'bash', 'console']).flatMap((block) =>
    block.split('\n').filter((line) => /^(\$ )?(\w+=\S+ )*assay [a-z]/.test(line)),
  )
  expect(bare).toEqual([])
})

test.each(pages)('every scenario that %s shows parses', (page) => {
  const scenarios = blocksIn(page, ['yaml']).filter((block) => /^steps:/m.test(block))
  for (const text of scenarios) expect(parseScenario(text, page, defaultContract).name).not.toBe('')
})

test.each(pages)('every link of %s to a file of this repository has a target', (page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map((match) => match[1]!)
  const missing = links.filter((link) => {
    try {
      readFileSync(resolve(root, page, '..', link))
      return false
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'EISDIR'
    }
  })
  expect(missing).toEqual([])
})

test('the table of thresholds names each metric, or metrics.md does, and it names no other', () => {
  const text = readFileSync(join(root, 'docs/scenarios.md'), 'utf8')
  const table = text.split('| metrics | statistics | example |\n')[1]!.split('\n\n')[0]!
  const named = table
    .split('\n')
    .slice(1)
    .flatMap((row) => [...row.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  const reference = readFileSync(join(root, 'docs/metrics.md'), 'utf8')
  const referred = judgedNames.filter((name) => reference.includes(`| \`${name}\` |`))
  expect([...new Set([...named, ...referred])].toSorted()).toEqual(metricNames.toSorted())
})
