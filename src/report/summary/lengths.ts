import { outputLength } from '../../measure/shares.ts'
import type { Session } from '../../store/session/session.ts'
import { jsonOf, objectOf } from '../../user/json.ts'
import { formatShare } from '../format.ts'
import { whole } from './figures.ts'
import type { Counted } from './groups.ts'
import type { RunSummary } from './shape.ts'

/**
 * How long answers are, of each step whose scenario says how long they should be, and of a replay, whose trace does.
 *
 * @param scenarioJson as stored; a run without a scenario asks for no lengths
 */
export async function readLengths(
  session: Session,
  { from, parameters }: Counted,
  scenarioJson: string,
): Promise<RunSummary['lengths']> {
  const { steps, phases } = askedIn(scenarioJson)
  if (steps.length === 0 && phases.length === 0) return []
  const { of, value } = outputLength
  const all: string[] = []
  const list = (names: readonly string[]) =>
    `[${names.map((name) => `$${parameters.length + all.push(name)}`).join(', ')}]::VARCHAR[]`
  const isTrace = `list_contains(${list(phases)}, phase)`
  const rows = await session.rows<RunSummary['lengths'][number]>(
    `SELECT step, ${isTrace} AS "isTrace", count(*)::INTEGER AS answers,
       sum(asked_tokens)::DOUBLE AS "askedTokens", sum(output_tokens)::DOUBLE AS tokens,
       count(*) FILTER (${value} >= 1)::INTEGER AS whole
     FROM ${outputLength.from(from)} WHERE ${of} AND (${isTrace} OR list_contains(${list(steps)}, step))
     GROUP BY ALL ORDER BY ALL`,
    [...parameters, ...all],
  )
  return [...rows]
}

interface Asked {
  readonly steps: readonly string[]
  readonly phases: readonly string[]
}

/** Names of the steps that ask for a length, and of the phases that replay a trace. */
function askedIn(scenarioJson: string): Asked {
  interface Named {
    readonly name: string
    readonly output?: unknown
    readonly load?: { readonly kind?: string }
  }
  const namesOf = (list: unknown, is: (each: Named) => boolean) =>
    Array.isArray(list) ? (list as readonly Named[]).filter(is).map(({ name }) => name) : []
  const { steps, phases } = objectOf(jsonOf(scenarioJson))
  return {
    steps: namesOf(steps, ({ output }) => output !== undefined),
    phases: namesOf(phases, ({ load }) => load?.kind === 'replay'),
  }
}

/**
 * `Answers of chat have 300 of the 1,024 output tokens that the scenario asks for (29 %); 0 of 1 are as long as asked.`
 *
 * @param nameOf how the place shows a name
 */
export const lengthNotes = (
  lengths: RunSummary['lengths'],
  nameOf: (name: string) => string,
): readonly string[] =>
  lengths.map(({ step, isTrace, answers, askedTokens, tokens, whole: full }) => {
    const asked = isTrace ? 'the trace has' : 'the scenario asks for'
    const share = `${formatShare(tokens / askedTokens)} %`
    return `Answers of ${nameOf(step)} have ${whole(tokens)} of the ${whole(askedTokens)} output tokens that ${asked} (${share}); ${full === answers ? 'all' : whole(full)} of ${whole(answers)} are as long as asked.`
  })
