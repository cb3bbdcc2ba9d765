import { describe, expect, test } from 'vitest'
import { jsonText, junitText, markdownText } from '../../src/audit/format/machine.ts'
import { sarifText } from '../../src/audit/format/sarif.ts'
import { terminalText } from '../../src/audit/format/terminal.ts'
import type { Finding } from '../../src/audit/verdict.ts'
import { faults } from '../../src/service/faults/list.ts'
import { expectFact, isOfAmounts } from '../report/headline.ts'
import { actsOf } from './acts.ts'
import { verdictsOf } from './verdicts.ts'

/**
 * The vendor has no store of ours: a witness that names a slot is no witness to him. All faults of the registry play at night, and
 * one of each family of rules always.
 */
const families = Map.groupBy(faults, ({ rule }) => rule.replace(/-\d+$/, ''))
const played =
  process.env.NIGHTLY === undefined ? [...families.values()].map(([first]) => first!) : faults

const textsOf = (finding: Finding): readonly string[] => {
  const report = {
    ...{ auditId: 'a', auditedAt: new Date(0), contract: 'svc', runs: [] },
    findings: [finding],
  }
  return [terminalText, markdownText, junitText, sarifText].map((write) => write(report, new Map()))
}

describe('each witness of a failed rule has its UTC time, and the ids that its service answered', () => {
  test.each(played.map(({ name, rule }) => ({ name, rule })))(
    '$rule: $name',
    { tags: 'whole', timeout: 60_000 },
    async ({ name, rule }) => {
      const verdicts = await verdictsOf({ faults: [name] }, actsOf(rule), [rule])
      const finding = verdicts.get(rule)!
      expect(finding.verdict.verdict).toBe('fail')
      if (finding.verdict.verdict !== 'fail') return
      if (isOfAmounts(rule)) expectFact(finding)
      for (const { service } of finding.verdict.witnesses) {
        expect(service?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        if (service!.status !== null) expect(service!.ids).not.toEqual([])
      }
      for (const text of textsOf(finding)) expect(text).not.toMatch(/\bslot\b/)
      expect(
        jsonText(
          { auditId: 'a', auditedAt: new Date(0), contract: 'svc', runs: [], findings: [finding] },
          new Map(),
        ),
      ).toContain('"at": "')
    },
  )
})
