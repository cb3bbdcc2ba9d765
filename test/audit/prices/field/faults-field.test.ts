import { appendFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../../src/audit/verdict.ts'
import { moneyFaults } from '../../../../src/service/money/faults/list.ts'
import { played } from './played.ts'
import { traffic } from './traffic.ts'

/**
 * Every public fault, at each place apart, in the reference service over HTTP: which rule tells it, in which words.
 * `ASSAY_TABLE=FILE` writes the table of docs/price-faults.md.
 */

const wordsOf = ({ verdict }: Finding) =>
  verdict.verdict === 'fail' ? verdict.observed.replace(/\d+ of \d+ costs are wrong: /, '') : ''

/** Faults that change what is refused have a test of their own. */
const cases = moneyFaults
  .filter(({ enforcement }) => enforcement === undefined)
  .flatMap(({ name, where, ids }) => where.map((place) => ({ ids, name, place })))
/** Some by day, all by night. */
const shown = cases.filter((_, at) => process.env.NIGHTLY !== undefined || at % 12 === 0)

describe('a public fault is told from each place where it shows', () => {
  test.each(shown)('$ids $name at $place', { tags: 'whole' }, async ({ ids, name, place }) => {
    const { failed } = await played(traffic[name]!, {
      faults: [`${name}@${place}=${traffic[name]!.share ?? 1}`],
      isVerySlow: name === 'per-call-is-per-second',
    })
    const told = failed.filter(({ rule }) => !rule.includes(':'))
    const [first] = told
    const table = process.env.ASSAY_TABLE
    if (table !== undefined)
      appendFileSync(
        table,
        `${ids.join(' ')}\t${name}\t${place}\t${told.map(({ rule }) => rule).join(', ')}\t${first === undefined ? 'NOT TOLD' : wordsOf(first)}\t${traffic[name]!.is}\n`,
      )
    expect([name, place, told.map(({ rule }) => rule)]).not.toEqual([name, place, []])
  })
})
