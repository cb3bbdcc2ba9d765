import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { shownIn } from './console.ts'

const page = readFileSync(new URL('../../docs/guides/last-months-bill.md', import.meta.url), 'utf8')

test("each command of the guide on last month's bill prints what the guide shows, on the files that it shows", {
  tags: 'whole',
  timeout: 60_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bill-guide-'))
  try {
    const files = [...page.matchAll(/^```\w+ \[([\w.-]+)\]\n([\s\S]*?)^```/gm)]
    expect(files.map(([, name]) => name)).toEqual(['gateway.yaml', 'spend.jsonl', 'bill.csv'])
    for (const [, name, text] of files) writeFileSync(join(folder, name!), text!)
    const shown = shownIn(page)
    expect(shown).toHaveLength(3)
    for (const { command, output } of shown) {
      const [npx, assay, ...words] = command.split(' ')
      expect([npx, assay]).toEqual(['npx', 'assay'])
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [resolve('src/cli/assay.js'), ...words],
        {
          cwd: folder,
          encoding: 'utf8',
        },
      )
      expect([command, stderr, stdout.trimEnd().split('\n')]).toEqual([command, '', output])
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
