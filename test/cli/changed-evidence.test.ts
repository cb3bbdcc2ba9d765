import { expect, test } from 'vitest'
import { printChecked } from '../../src/cli/audits/evidence.ts'
import type { Options } from '../../src/cli/commands/audit.ts'
import type { CheckedEvidence } from '../../src/report/vendor/check-evidence.ts'

const print = (...differences: readonly string[]) => {
  const checked = {
    ...{ commands: new Map(), files: 3, differences, otherRules: null },
    report: { runs: [{}], findings: [{}, {}] },
  } as unknown as CheckedEvidence
  printChecked('given', checked, { again: 'BILL-10', rule: [] } as unknown as Options)
}

test('a changed folder of evidence is said to be so before a rule that has no command', () => {
  expect(() => print('BILL-09: pass, it was fail')).toThrow(
    'given: 1 of 2 findings are not those of the manifest:\n  BILL-09: pass, it was fail',
  )
  expect(() => print()).toThrow('--again: BILL-10 did not fail')
})
