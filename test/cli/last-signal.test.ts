import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { Running } from '../e2e/command.ts'

/** Signals that come when a command has printed its whole result. */
const folder = mkdtempSync(join(tmpdir(), 'assay-last-signal-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const lineCount = 2_000
writeFileSync(join(folder, 'map.yaml'), 'fields: { time: at, id: id }\n')
writeFileSync(
  join(folder, 'log.jsonl'),
  Array.from(
    { length: lineCount },
    (_, at) => `{"id":"r${at}","at":"2026-01-01T00:00:00Z"}\n`,
  ).join(''),
)

test('a signal after the result of an import ends it with 0 or with 130 and a word, never without a word', {
  tags: 'whole',
}, async () => {
  for (let tryNo = 0; tryNo < 16; tryNo++) {
    const words = ['import', 'log.jsonl', '--map', 'map.yaml', '--db', `${tryNo}.duckdb`]
    const command = new Running(words, {}, folder)
    expect(await command.firstLine()).toContain('2,000 accepted')
    await sleep(8 * tryNo)
    command.child.kill('SIGTERM')
    const { code, stderr } = await command.ended
    expect(command.child.signalCode).toBeNull()
    if (code === 0) expect(stderr).toBe('')
    else expect([code, stderr]).toEqual([130, expect.stringMatching(/^Interrupted/)])
  }
})
