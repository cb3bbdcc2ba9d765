import type { Contract } from '../../contract/contract.ts'
import { literal } from '../../store/import/literal.ts'
import type { Rule } from '../rule.ts'
import type { Witness } from '../verdict.ts'

interface Group {
  readonly came: string | null
  readonly n: number
  readonly runId: string
  readonly slot: number
  readonly retry: number
}

export interface SqlRule extends Omit<Rule, 'decide'> {
  /** What the rule expects of each row, for the case that one breaks it. */
  readonly expected: string | ((contract: Contract) => string)
  /**
   * A SELECT of `run_id, slot, retry, came` over `seen`, the attempts of the audited runs: one row
   * for each observation, `came` null where the promise was kept and otherwise a few words on what
   * came instead. `looked` has all columns of the schema; a contract's values are quoted by `sql`.
   */
  readonly observe: (contract: Contract) => string
  /** What it takes for the rule to be decided. */
  readonly takes: string
  /** Why one row alone that breaks it decides nothing; absent where it does. */
  readonly lone?: string
}

/** A rule that looks at each row by itself: set-based, so a million rows are one query. */
export function sqlRule({ expected, observe, takes, lone, ...rule }: SqlRule): Rule {
  return {
    ...rule,
    async decide({ store, runIds, contract }) {
      const groups = await store.rows<Group>(
        `WITH seen AS (SELECT * FROM attempts
                       WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL),
              looked AS (${observe(contract)})
         SELECT came, n, first.run_id AS "runId", first.slot::DOUBLE AS slot, first.retry AS retry
         FROM (SELECT came, count(*)::DOUBLE AS n,
                      -- Several runs have the same slots, and threads bring them in any order.
                      min({slot: slot, run_id: run_id, retry: retry}) FILTER (came IS NOT NULL) AS first
               FROM looked GROUP BY came)
         ORDER BY n DESC, came`,
        [JSON.stringify(runIds)],
      )
      const observations = groups.reduce((sum, { n }) => sum + n, 0)
      if (observations === 0) return { verdict: 'not-observed', takes }
      const broken = groups.filter((group) => group.came !== null)
      const witnesses = broken.slice(0, 5).map(witnessOf)
      const [first, ...rest] = witnesses
      if (first === undefined) return { verdict: 'pass', observations }
      const count = broken.reduce((sum, { n }) => sum + n, 0)
      if (count === 1 && lone !== undefined) {
        const why = `${first.shows}: ${lone}`
        return { verdict: 'inconclusive', observations, why, witnesses }
      }
      return {
        verdict: 'fail',
        observations,
        expected: typeof expected === 'string' ? expected : expected(contract),
        came: `${broken[0]?.came}${count > 1 ? `; ${count} of ${observations} break it` : ''}`,
        witnesses: [first, ...rest],
      }
    },
  }
}

function witnessOf({ runId, slot, retry, came, n }: Group): Witness {
  return { runId, slot, retry, shows: n === 1 ? `${came}` : `${came} (first of ${n})` }
}

/** Values as a SQL list of literals: numbers as they are, words quoted. */
export function sqlList(values: readonly (string | number)[]): string {
  const literals = values.map((value) =>
    typeof value === 'number' ? String(value) : literal(value),
  )
  return `(${literals.length === 0 ? 'NULL' : literals.join(', ')})`
}
