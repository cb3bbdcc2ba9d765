import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { firstDifference, freePort, shownIn, Terminal } from './console.ts'

const root = resolve(import.meta.dirname, '../..')

// Needs a minute without other load, so it runs at night.
test.skipIf(process.env.NIGHTLY === undefined).each(['README.md', 'docs/tutorial.md'])(
  'every command of %s prints what the page shows',
  async (page) => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-page-'))
    symlinkSync(join(root, 'scenarios'), join(folder, 'scenarios'))
    const terminal = new Terminal(folder, await freePort())
    onTestFinished(() => {
      terminal.close()
      rmSync(folder, { recursive: true })
    })
    const shown = shownIn(readFileSync(join(root, page), 'utf8'))
    expect(shown.length).toBeGreaterThan(3)
    for (const { command, output } of shown) {
      if (command.includes('run launch.yaml')) setPort(join(folder, 'launch.yaml'), terminal.port)
      const printed = await terminal.run(command)
      const difference = firstDifference(output, printed)
      expect(difference && `$ ${command}\n${difference}\n\n${printed.join('\n')}`).toBeNull()
    }
  },
  240_000,
)

/** The page uses the address in the scenario that `init` wrote; the test uses another port. */
function setPort(file: string, port: number): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('127.0.0.1:8787', `127.0.0.1:${port}`))
}

test('a line that the page shows and the command does not print is a difference', () => {
  expect(firstDifference(['a 1', '…', 'z'], ['a 2', 'b', 'z'])).toBeNull()
  expect(firstDifference(['a', 'z'], ['a', 'b', 'z'])).toContain('line 2 is\nb')
  expect(firstDifference(['held 9 ms'], ['missed 9 ms'])).toContain('missed')
  expect(firstDifference(['a'], ['a', 'b'])).toContain('does not show\nb')
})
