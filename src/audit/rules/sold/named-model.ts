import { judgeNamed, leastPrompts, leastSessions } from '../../evidence/sold/apart.ts'
import { referencesIn } from '../../evidence/sold/at-reference.ts'
import { overModels } from '../../evidence/sold/by-model.ts'
import { drawsOf } from '../../evidence/sold/chance.ts'
import { measuring } from '../../evidence/sold/measured.ts'
import {
  likeliestOf,
  shareOf,
  sharesOf,
  type TokenSession,
  tokenSessions,
} from '../../evidence/sold/sessions.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, withFigures } from '../../verdict.ts'

const requires = `${leastSessions} sessions of the service and ${leastSessions} of the reference in turn, in one store (scenarios/integrity-session.yaml with each --base-url)`

export const sold06: Rule = {
  id: 'SOLD-06',
  title: 'The model is the named one',
  section: 'contract: models, reference',
  needs: ['active'],
  explain: `Compares sessions of the service with those of the reference that the contract names, in one store: both ask the same short prompts for one
token each. A session and its neighbour in time at the other are a pair. The distance is the root of the mean over prompts of the squared difference of the shares of the
likeliest first token, less what the spread of sessions adds. Whole sessions are exchanged within their pairs, in each way up to twelve pairs, in 999 of more: p 0.002 and a distance of 0.1 fail, p 0.05 alone
is inconclusive. A difference is a difference, and not yet another model: hardware, rounding, a system prompt (SOLD-02) and the region move answers, too. It cannot detect
another model for a tenth of the requests, or a close relative of the model. Twelve pairs tell a model for half of the requests in nine of ten audits.`,
  ...whenPromised(
    ['models.reference'],
    async (evidence): Promise<Verdict> => {
      const references = await referencesIn(evidence)
      const own = await tokenSessions(evidence, 'reference')
      const byModel = Map.groupBy(own, ({ model }) => model)
      return overModels(byModel, requires, async (model, sessions) =>
        verdictOf(sessions, await tokenSessions(references.get(model)!.evidence, null)),
      )
    },
    async (evidence) => {
      const own = await tokenSessions(await measuring(evidence), null)
      if (own.length === 0) return
      const shares = [...likeliestOf(own)].flatMap(([prompt, token]) =>
        own.flatMap((session) => shareOf(session, prompt, token) ?? []),
      )
      const mean = shares.reduce((sum, each) => sum + each, 0) / shares.length
      return {
        note: `the likeliest first token of a prompt has ${Math.round(100 * mean)} % of the answers of ${own.length} sessions; nothing is named to compare them with`,
      }
    },
  ),
}

function verdictOf(own: readonly TokenSession[], others: readonly TokenSession[]): Verdict {
  const tokens = [...likeliestOf([...own, ...others])]
  const pairs = neighbours(own, others)
  const found = judgeNamed(
    pairs.map((pair) => {
      const [service, reference] = sharesOf(pair, tokens)
      return { service: service!, reference: reference! }
    }),
    drawsOf(own[0]!.witness.runId),
  )
  if (found.is === 'unseen') return notObserved(requires)
  const observations = 2 * pairs.length
  if (found.is === 'one')
    return inconclusive(observations, `one pair of sessions; ${leastSessions} pairs decide`)
  if (found.is === 'unlike')
    return inconclusive(
      observations,
      `only ${found.common} of ${leastPrompts} prompts were asked at both, the service and the reference; sessions with the same prompts decide`,
    )
  const figures = [{ name: 'apart', value: found.apart }] as const
  const said = `first tokens differ from the reference by ${found.apart.toFixed(2)} on average (p ${Number(found.p.toFixed(3))}, ${pairs.length} pairs of sessions)`
  const open = (why: string) => withFigures(inconclusive(observations, why), figures)
  switch (found.is) {
    case 'few':
      return open(`${said}; ${leastSessions} pairs decide`)
    case 'inconclusive':
      return open(`${said}, by what may be chance; more pairs would decide`)
    case 'pass':
      return pass(observations, { note: said, figures })
    case 'fail':
      return fail(observations, {
        expected: 'answers as those of the reference',
        observed: `${said[0]!.toUpperCase()}${said.slice(1)}: another model, quantization, hardware, or another system prompt.`,
        witnesses: pairs
          .slice(0, 5)
          .map(([{ witness }]) => ({ ...witness, shows: `session of ${witness.shows}` })),
        figures,
      })
  }
}

/** Each session beside the next one of the other service, if nothing came between; each in one pair at most. */
function neighbours(
  own: readonly TokenSession[],
  others: readonly TokenSession[],
): readonly (readonly [TokenSession, TokenSession])[] {
  const all = [
    ...own.map((session) => ({ session, isOwn: true })),
    ...others.map((session) => ({ session, isOwn: false })),
  ].toSorted((a, b) => a.session.atUs - b.session.atUs)
  const pairs: (readonly [TokenSession, TokenSession])[] = []
  for (let at = 1; at < all.length; at++) {
    const [a, b] = [all[at - 1]!, all[at]!]
    if (a.isOwn === b.isOwn) continue
    pairs.push(a.isOwn ? [a.session, b.session] : [b.session, a.session])
    at++
  }
  return pairs
}
