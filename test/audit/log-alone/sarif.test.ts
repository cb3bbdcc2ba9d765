import { expect, test } from 'vitest'
import { sarifText } from '../../../src/audit/format/sarif.ts'
import { auditOf, linesOf, row, rows } from './litellm-rows.ts'

test.each([
  ['spend log.jsonl', 'spend%20log.jsonl', 7, linesOf],
  ['spend.json', 'spend.json', 1, JSON.stringify],
])(
  'a failure of %s is at the log, and at its line where a row is one',
  async (name, uri, startLine, write) => {
    const wrong = rows.slice(0, 10).with(6, row(6, { spend: '0.9' }))
    const text = sarifText(await auditOf(write(wrong), name), new Map())
    const { results } = JSON.parse(text).runs[0]
    const [at] = results.find(({ ruleId }: { ruleId: string }) => ruleId === 'PRICE-04').locations
    expect(at.physicalLocation).toEqual({ artifactLocation: { uri }, region: { startLine } })
  },
)
