import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { csvRecords as wholeRecords } from '../../../src/store/import/whole/csv-records.ts'
import { csvRecords } from '../../../src/user/csv.ts'

test.each([
  'a,b,c\n1, "x\ny",2\n',
  'a,b\n"1\n2",3\n',
  'a,b\n"say ""x\n""",3\n',
  'a,b\n1,x "y\n2,3\n',
])('what ends a record is the same for who counts records and who reads them: %j', async (text) => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-csv-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'a.csv')
  writeFileSync(path, text)
  expect((await wholeRecords(path, ',')).records).toBe([...csvRecords([text], ',')].length)
})
