import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Finding, Verdict } from '../../src/audit/verdict.ts'
import { soldTable } from './sold-table.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-sold-table-'))
afterAll(() => rmSync(folder, { recursive: true }))
const rowsPath = join(folder, 'rows.jsonl')

const finding = (verdict: Verdict): ReadonlyMap<string, Finding> =>
  new Map([['SOLD-05', { rule: 'SOLD-05', severity: 'must', title: 'The model', verdict }]])
const failure: Verdict = {
  ...{ verdict: 'fail', observations: 1, expected: 'one model', observed: 'two' },
  witnesses: [{ runId: 'a', slot: 0, retry: 0, shows: 'another' }],
}

/** What is played for seeds of one variant, what is printed, and how many alarms there are. */
async function tableOf(seeds: readonly number[]) {
  const played: number[] = []
  const lines: string[] = []
  const alarms = await soldTable({
    ...{ variants: [{ name: 'noise' }], seeds, rowsPath },
    async play(_, seed) {
      played.push(seed)
      return finding(seed === 2 ? failure : { verdict: 'pass', observations: 60 })
    },
    print: (line) => lines.push(line),
  })
  return { played, lines, alarms }
}

test('plays that a file has are not played again, and count with the others', async () => {
  expect(await tableOf([1, 2])).toMatchObject({ played: [1, 2], alarms: 1 })
  const all = await tableOf([1, 2, 3])
  expect(all).toMatchObject({ played: [3], alarms: 1 })
  expect(all.lines).toEqual([
    expect.stringMatching(/^ {4}seed 2: SOLD-05 \{"verdict":"fail",.*"observed":"two"/),
    'noise                               SOLD-05   2 / 0 / 1',
  ])
})

test('a row that a kill cut off is played again', async () => {
  appendFileSync(rowsPath, '{"variant":"noise","seed":4,"to')
  expect((await tableOf([3, 4])).played).toEqual([4])
})
