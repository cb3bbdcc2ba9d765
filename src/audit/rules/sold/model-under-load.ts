import {
  type Apart,
  judgeUnderLoad,
  leastPrompts,
  leastSessions,
} from '../../evidence/sold/apart.ts'
import { overModels } from '../../evidence/sold/by-model.ts'
import { drawsOf } from '../../evidence/sold/chance.ts'
import { judgedOrMeasured } from '../../evidence/sold/measured.ts'
import { movedEvidence } from '../../evidence/sold/moved.ts'
import {
  isSinceFixed,
  type LoadedRun,
  likeliestOf,
  loadedRuns,
  sharesOf,
} from '../../evidence/sold/sessions.ts'
import type { Evidence, Rule } from '../../rule.ts'
import { fail, inconclusive, pass, type Verdict, withFigures } from '../../verdict.ts'

const requires = `in one run, ${leastSessions} sessions of short prompts with max_tokens: 1 at rest and as many under load, stored whole (scenarios/launch-certificate.yaml)`

export const sold11: Rule = {
  id: 'SOLD-11',
  title: 'The model under load is the one at rest',
  section: 'contract: models, fixed',
  needs: ['active'],
  explain: `Compares answers of one run at rest (phases of one user) and under load (its other phases, such as the trials of a search): both ask the same short prompts for one
token each. The distance is that of SOLD-06. Whole sessions, as many answers as the first phase at rest has, are exchanged between both: p 0.008 of 999 and a distance of 0.1 fail, p 0.05
alone is inconclusive. Fewer than ${leastSessions} sessions of either are inconclusive. An honest model fails with a chance of at most 1 %, if its noise at rest is that under load. Simulated models that are noisier under load fail as rarely; another model for
all requests under load was never missed, one for half of them in 3 %. It cannot detect another model for a quarter of the requests, a slight quantization, or a service that treats these
prompts apart. SOLD-05 does not read the answers under load.`,
  ...judgedOrMeasured('models.fixed', decide, 'fixed'),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  const runs = await loadedRuns(evidence, 'fixed')
  const since = runs.filter(({ rest }) => rest.every(isSinceFixed))
  const byModel = Map.groupBy(since, ({ model }) => model)
  return overModels(byModel, requires, (_, own) => verdictOf(own))
}

function verdictOf(runs: readonly LoadedRun[]): Verdict {
  const [rest, load] = [runs.flatMap((run) => run.rest), runs.flatMap((run) => run.load)]
  const observations = rest.length + load.length
  const lacks = lackOf(runs, rest.length, load.length)
  if (lacks !== null) return inconclusive(observations, lacks)
  const tokens = [...likeliestOf([...rest, ...load])]
  const found = judgeUnderLoad(
    runs.map((run) => ({ rest: sharesOf(run.rest, tokens), load: sharesOf(run.load, tokens) })),
    drawsOf(runs[0]!.runId),
  )
  if (found.is === 'unlike')
    return inconclusive(
      observations,
      `only ${found.common} of ${leastPrompts} prompts were asked both at rest and under load; the same prompts in both decide`,
    )
  const figures = [{ name: 'apart_under_load', value: found.apart }] as const
  const said = `Under load the answers to ${tokens.length} fixed prompts ${wordsOf(found)} (p ${Number(found.p.toFixed(3))}, ${rest.length} sessions at rest and ${load.length} under load)`
  const open = (why: string) => withFigures(inconclusive(observations, why), figures)
  switch (found.is) {
    case 'pass':
      return pass(observations, {
        note: `${said}; another model for a quarter of the requests, or a slight quantization, would not show`,
        figures,
      })
    case 'inconclusive':
      return open(`${said}, by what may be chance; run it again`)
    case 'fail':
      return fail(observations, {
        expected: 'under load the answers of the same model',
        observed: `${said}: another model, or another way to run it.`,
        figures,
        ...movedEvidence(tokens, {
          model: runs[0]!.model.id,
          groups: [rest, load],
          words: ['at rest', 'under load'],
        }),
      })
  }
}

const wordsOf = ({ is, apart }: Apart) =>
  is === 'pass'
    ? 'are those at rest'
    : `differ from those at rest by ${apart.toFixed(2)} on average`

/** What a verdict still takes; null if nothing. */
function lackOf(runs: readonly LoadedRun[], rest: number, load: number): string | null {
  const { size } = runs[0]!
  if (rest < leastSessions)
    return `only ${rest} of ${leastSessions} sessions at rest; ${(leastSessions - rest) * size} more requests for one token by one user decide`
  if (load >= leastSessions) return null
  const sum = (of: (run: LoadedRun) => number) => runs.reduce((all, run) => all + of(run), 0)
  const answers = sum((run) => run.loadAnswers)
  const more = (leastSessions - load) * size
  const us = (sum((run) => run.loadUs) / answers) * more
  const takes = us > 0 ? `, about ${timeOf(us / 1e6)} of this load` : ''
  return `only ${load} of ${leastSessions} sessions under load (${answers} answers); ${more} more requests for one token${takes}, decide`
}

const timeOf = (s: number) => (s < 100 ? `${Math.ceil(s)} s` : `${Math.ceil(s / 60)} min`)
