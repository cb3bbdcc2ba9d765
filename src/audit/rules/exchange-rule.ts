import type { PromiseName, Promising } from '../../contract/promises.ts'
import { type Exchange, exchangesOf, shownBy } from '../evidence/exchange.ts'
import { type Evidence, type Rule, whenPromised } from '../rule.ts'
import { fail, notesOf, notObserved, pass, untested, type Verdict } from '../verdict.ts'

/**
 * Undefined if the rule is not about the exchange, null if the promise was kept, a note if it was kept in a way that is
 * worth a word, else a few words on the observation.
 */
export type Observed = string | null | undefined | { readonly note: string }

export type Judged = readonly [Exchange, Observed]

interface Described<P extends PromiseName> extends Omit<Rule, 'decide' | 'promised'> {
  readonly promised?: readonly P[]
  /** The parts that the promise has, if it has several, and the part that an exchange tests. A pass names those that none tested. */
  readonly parts?: {
    readonly of: (contract: Promising<P>) => readonly string[]
    readonly tested: (exchange: Exchange, contract: Promising<P>) => string | readonly string[]
    /** The part that a pass needs: where nothing tested it, the promise had no occasion to be broken, and is not observed. */
    readonly needed?: string
  }
  readonly expected: string
  readonly requires: string
}

/** A rule that judges one exchange at a time. */
export function exchangeRule<const P extends PromiseName = never>({
  judge,
  ...rule
}: Described<P> & {
  readonly judge: (exchange: Exchange, contract: Promising<P>) => Observed
}): Rule {
  return exchangesRule({
    ...rule,
    judgeOf:
      (_, { contract }) =>
      (exchange) =>
        judge(exchange, contract),
  })
}

/** A rule that judges each exchange by what it knows of all exchanges. */
export function exchangesRule<const P extends PromiseName = never>({
  judgeOf,
  ...rule
}: Described<P> & {
  readonly judgeOf: (
    exchanges: readonly Exchange[],
    evidence: Evidence<P>,
  ) => ((exchange: Exchange) => Observed) | Promise<(exchange: Exchange) => Observed>
}): Rule {
  return judgedRule({
    ...rule,
    async judged(evidence) {
      const exchanges = await exchangesOf(evidence)
      const judge = await judgeOf(exchanges, evidence)
      return exchanges.map((exchange) => [exchange, judge(exchange)])
    },
  })
}

/** A rule that selects and judges its exchanges itself. */
export function judgedRule<const P extends PromiseName = never>({
  expected,
  requires,
  judged,
  parts,
  promised = [],
  ...rule
}: Described<P> & {
  readonly judged: (evidence: Evidence<P>) => Promise<readonly Judged[]>
}): Rule {
  return {
    ...rule,
    ...whenPromised(promised, async (evidence) => {
      const all = await judged(evidence)
      const tested = all.flatMap(([exchange, observed]) =>
        parts === undefined || observed === undefined
          ? []
          : parts.tested(exchange, evidence.contract),
      )
      const lacks = untested(parts?.of(evidence.contract) ?? [], tested)
      const verdict = verdictOf(all, expected, requires, lacks)
      const isIdle = parts?.needed !== undefined && !tested.includes(parts.needed)
      return verdict.verdict === 'pass' && isIdle ? notObserved(requires) : verdict
    }),
  }
}

/** The verdict over judged exchanges. Broken ones are grouped by observation, with one witness each. */
function verdictOf(
  judged: readonly Judged[],
  expected: string,
  requires: string,
  lacks: string | undefined,
): Verdict {
  const seen = judged.filter(([, observed]) => observed !== undefined)
  if (seen.length === 0) return notObserved(requires)
  const broken = seen.flatMap(([exchange, observed]) =>
    typeof observed === 'string' ? [[exchange, observed] as const] : [],
  )
  const groups = Map.groupBy(broken, ([, observed]) => observed)
  const witnesses = [...groups].map(([observed, group]) =>
    shownBy(group[0]![0], group.length === 1 ? observed : `${observed} (first of ${group.length})`),
  )
  const [first] = witnesses
  const notes = seen.flatMap(([, observed]) =>
    observed !== null && typeof observed === 'object' ? [observed.note] : [],
  )
  const noted = notes.length === 0 ? undefined : `${notes.length} of ${seen.length}: ${notes[0]}`
  if (first === undefined) return pass(seen.length, notesOf(noted, lacks))
  return fail(seen.length, {
    expected,
    observed:
      broken.length === 1
        ? first.shows
        : `${[...groups.keys()][0]}; ${broken.length} of ${seen.length} break it`,
    witnesses: witnesses.slice(0, 5),
  })
}
