import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { firstDifference, freePort, renewed, shownIn, Terminal } from './console.ts'

const root = resolve(import.meta.dirname, '../..')

// Needs a minute without other load, so it runs at night. `npm run pages` writes the figures of today into the pages.
const isWriting = process.env.WRITE_PAGES !== undefined

test
  .skipIf(process.env.NIGHTLY === undefined && !isWriting)
  .each(['README.md', 'docs/tutorial.md'])(
  'every command of %s prints what the page shows',
  async (page) => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-page-'))
    symlinkSync(join(root, 'scenarios'), join(folder, 'scenarios'))
    const terminal = new Terminal(folder, await freePort())
    onTestFinished(() => {
      terminal.close()
      rmSync(folder, { recursive: true })
    })
    let text = readFileSync(join(root, page), 'utf8')
    const shown = shownIn(text)
    expect(shown.length).toBeGreaterThan(3)
    for (const { command, output } of shown) {
      if (command.includes('run launch.yaml')) setPort(join(folder, 'launch.yaml'), terminal.port)
      const printed = await terminal.run(command)
      if (isWriting && output.length > 0) {
        const from = [`$ ${command}`, ...output].join('\n')
        text = text.replace(from, () => [`$ ${command}`, ...renewed(output, printed)].join('\n'))
        writeFileSync(join(root, page), text)
      }
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

test('a page gets the figures of today, keeps what it leaves out, and a line that no longer fits stays', () => {
  const shown = ['a 1', '…', 'sent 5 of 6 …', 'the old words']
  expect(renewed(shown, ['a 2', 'b', 'sent 7 of 8 at once', 'new words'])).toEqual([
    ...['a 2', '…', 'sent 7 of 8 …', 'the old words'],
  ])
})
