import type { PromiseName, Promising } from '../../contract/promises.ts'
import { literal } from '../../store/literal.ts'
import { type Evidence, type Rule, whenPromised } from '../rule.ts'
import { fail, inconclusive, notesOf, notObserved, pass, untested, witnessAt } from '../verdict.ts'

interface Group {
  readonly observed: string | null
  readonly n: number
  /** The parts of the promise that it tested, one a line. */
  readonly parts: string | null
  readonly runId: string
  readonly slot: number
  readonly retry: number
}

export interface SqlRule<P extends PromiseName> extends Omit<Rule, 'decide' | 'promised'> {
  readonly promised?: readonly P[]
  /** The expectation for each row, for the failure message. */
  readonly expected: string | ((contract: Promising<P>) => string)
  /**
   * A SELECT of `run_id, slot, retry, observed` over `seen`, the attempts of the audited runs. It returns one row per
   * observation; `observed` is null if the promise was kept, otherwise a few words on what was observed. Values of the
   * contract must be quoted with `sqlList`.
   */
  readonly observe: (contract: Promising<P>, evidence: Evidence) => string | Promise<string>
  /** What an observation breaks, in a few words; null if the promise was kept. Absent: each observation breaks it. */
  readonly wrong?: (observed: string, contract: Promising<P>) => string | null
  /**
   * The parts that the promise has, if it has several: `observe` then has a column `part` with one of them. A pass names those that no
   * row tested.
   */
  readonly parts?: (contract: Promising<P>) => readonly string[]
  /** The traffic that decides the rule. */
  readonly requires: string
  /** Why a single violation decides nothing; absent if it decides. */
  readonly lone?: string
}

/** A rule that judges each row alone, in one query for any number of rows. */
export function sqlRule<const P extends PromiseName = never>({
  expected,
  observe,
  wrong = (observed) => observed,
  parts,
  requires,
  lone,
  promised = [],
  ...rule
}: SqlRule<P>): Rule {
  return {
    ...rule,
    ...whenPromised(promised, async (evidence) => {
      const { store, runIds, contract } = evidence
      const found = await store.rows<Group>(
        // A copy of all columns of all attempts would not fit in memory.
        `WITH seen AS NOT MATERIALIZED (SELECT * FROM attempts
                       WHERE list_contains($1::VARCHAR[], run_id) AND sent_us IS NOT NULL),
              looked AS (${await observe(contract, evidence)})
         SELECT observed, n, parts, first.run_id AS "runId", first.slot::DOUBLE AS slot, first.retry AS retry
         FROM (SELECT observed, count(*)::DOUBLE AS n,
                      ${parts === undefined ? 'NULL' : 'string_agg(DISTINCT part, chr(10))'} AS parts,
                      -- Runs share slot numbers, and threads write rows in any order.
                      min({slot: slot, run_id: run_id, retry: retry}) FILTER (observed IS NOT NULL) AS first
               FROM looked GROUP BY observed)
         ORDER BY n DESC, observed`,
        [JSON.stringify(runIds)],
      )
      const groups = found.map(({ observed, ...group }) => ({
        ...group,
        observed: observed === null ? null : wrong(observed, contract),
      }))
      const observations = groups.reduce((sum, { n }) => sum + n, 0)
      if (observations === 0) return notObserved(requires)
      const broken = groups.filter((group) => group.observed !== null)
      const witnesses = broken
        .slice(0, 5)
        .map((group) =>
          witnessAt(group, `${group.observed}${group.n === 1 ? '' : ` (first of ${group.n})`}`),
        )
      const [first] = witnesses
      if (first === undefined) {
        const tested = groups.flatMap((group) => group.parts?.split('\n') ?? [])
        return pass(observations, notesOf(untested(parts?.(contract) ?? [], tested)))
      }
      const count = broken.reduce((sum, { n }) => sum + n, 0)
      if (count === 1 && lone !== undefined)
        return inconclusive(observations, `${first.shows}: ${lone}`, witnesses)
      return fail(observations, {
        expected: typeof expected === 'string' ? expected : expected(contract),
        observed: `${broken[0]?.observed}${count > 1 ? `; ${count} of ${observations} break it` : ''}`,
        witnesses,
      })
    }),
  }
}

/** Values as an SQL list of literals: numbers unchanged, text quoted. */
export function sqlList(values: readonly (string | number)[]): string {
  const literals = values.map((value) =>
    typeof value === 'number' ? String(value) : literal(value),
  )
  return `(${literals.length === 0 ? 'NULL' : literals.join(', ')})`
}
