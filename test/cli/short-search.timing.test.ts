// @module-tag whole
import { expect, test } from 'vitest'
import { assay } from '../e2e/command.ts'
import { emptyFolder, foreignServer } from './bench-server.ts'

// On a busy machine this client sends late, and the run is rightly invalid: exit code 4 instead of 3.
test('a search that is too short for a verdict prints a bracket, exits with 3, and goes on by --continue', async () => {
  const { asked, origin } = await foreignServer()
  const folder = emptyFolder()
  const bench = (...words: string[]) => assay(['bench', ...words], { cwd: folder }).ended
  const first = await bench(`${origin}/llm/v1`, '--for', '20s', '--max-rate', '40')
  expect(first.code, first.stderr).toBe(3)
  expect(first.stdout).toContain('No safe rate yet: not enough time to decide.')
  expect(first.stdout).toMatch(/that is a bracket,\s+not\s+a\s+verdict\./)
  expect(first.stdout).toMatch(/To confirm [\d.]+\/s takes [\d,]+ requests/)
  const prompts = asked.flatMap(({ body }) => {
    const messages = body.messages as readonly { content: string }[] | undefined
    return messages === undefined ? [] : [messages[0]!.content]
  })
  expect(prompts.length).toBeGreaterThan(20)
  expect(new Set(prompts).size).toBe(prompts.length)

  const second = await bench('--continue', '--for', '20s')
  expect(second.stderr).toMatch(/^Going on from run \S+ of http/)
  const trials = (out: string) =>
    [...out.matchAll(/^ {2}(\d+) +(?:warm-up|bracket|refine|hold) /gm)].map(([, nth]) => nth)
  expect(trials(second.stdout).length).toBeGreaterThan(trials(first.stdout).length)
}, 180_000)
