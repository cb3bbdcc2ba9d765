import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { main } from '../e2e/command.ts'
import { seededStore } from '../report/seeded.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-report-'))
const db = join(folder, 'seeded.duckdb')

beforeAll(async () => {
  const store = await seededStore({ attempts: 300, path: db })
  store.close()
})

async function report(...asked: readonly string[]) {
  const args = [main, 'report', ...asked, '--db', db]
  return promisify(execFile)(process.execPath, args, { cwd: folder }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) =>
      ({ code, stdout, stderr }) as { code: number; stdout: string; stderr: string },
  )
}

describe('assay report', () => {
  test('writes a page and its pictures, and prints their paths', { tags: 'whole' }, async () => {
    const pictures = join(folder, 'pictures')
    const told = await report('launch', '--out', 'page.html', '--png', pictures, '--json')
    const { out, pictures: files } = JSON.parse(told.stdout)
    expect(out).toBe('page.html')
    expect(readFileSync(join(folder, 'page.html'), 'utf8')).toContain('Launch report')
    expect(files).toEqual(
      readdirSync(pictures)
        .sort()
        .map((name) => join(pictures, name)),
    )
    expect(files.length).toBeGreaterThan(8)
  })

  test("adds the user's own chart to the built-in ones", { tags: 'whole' }, async () => {
    const own = mkdtempSync(join(folder, 'own-'))
    writeFileSync(join(own, '99-mine.sql'), '-- title: My own table\nSELECT 42 AS answer')
    await report('launch', 'run-1', '--reports', own, '--out', 'own.html')
    const page = readFileSync(join(folder, 'own.html'), 'utf8')
    expect(page).toContain('My own table')
    expect(page).toContain('>42<')
  })

  test.each([
    [['launch', 'nowhere'], /nowhere/],
    [['usage', '--timezone', 'Mars/Base'], /Unknown time zone "Mars\/Base"/],
    [['usage', '--from', 'yesterday'], /"yesterday" is not a date/],
    [['launch', '--reports', '/nowhere'], /no folder \/nowhere/],
    [['usage', '--reports', db], /no folder .*seeded\.duckdb: expected charts in it/],
  ] as const)('%j is refused with one sentence and exit code 2', async (asked, summary) => {
    const { code, stderr } = await report(...asked, '--out', 'never.html')
    expect(code).toBe(2)
    expect(stderr).toMatch(summary)
    expect(stderr).not.toContain('    at ')
    expect(existsSync(join(folder, 'never.html'))).toBe(false)
  })

  test('an invalid query is reported with its file name as a usage error', {
    tags: 'whole',
  }, async () => {
    const own = mkdtempSync(join(folder, 'broken-'))
    writeFileSync(join(own, '99-mine.sql'), '-- title: Mine\nSELECT nothing FROM nowhere')
    const { code, stderr } = await report('launch', '--reports', own, '--out', 'never.html')
    expect(code).toBe(2)
    expect(stderr).toContain('99-mine')
  })

  test('prints the same content as text, for a pipe', { tags: 'whole' }, async () => {
    const markdown = await report('audit', '--format', 'md')
    const json = await report('audit', '--format', 'json')
    const csv = await report('usage', '--format', 'csv')
    expect(markdown.stdout).toContain(
      '## Observed 829 credits, expected between 812 and 815 credits',
    )
    expect(JSON.parse(json.stdout).findings[0].rule).toBe('BILL-10')
    expect(csv.stdout.split('\r\n')[0]).toContain('day,hours,series')
  })
})
