import { modelNamed } from '../../../contract/contract.ts'
import { leastSessions } from '../../evidence/sold/apart.ts'
import { type AtReference, referencesIn } from '../../evidence/sold/at-reference.ts'
import { worstOf } from '../../evidence/sold/by-model.ts'
import { drawsOf } from '../../evidence/sold/chance.ts'
import { measuring } from '../../evidence/sold/measured.ts'
import { judgeNamed } from '../../evidence/sold/named.ts'
import {
  likeliestOf,
  shareOf,
  type TokenSession,
  tokenSessions,
} from '../../evidence/sold/sessions.ts'
import { type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict } from '../../verdict.ts'

const requires = `${leastSessions} sessions of the service and ${leastSessions} of the reference in turn, in one store (scenarios/integrity-session.yaml with each --base-url)`

export const sold06: Rule = {
  id: 'SOLD-06',
  title: 'The model is the named one',
  section: 'contract: models, reference',
  severity: 'must',
  needs: ['active'],
  explain: `Compares sessions of the service with those of the reference that the contract names, in one store: both ask the same short prompts for one
token each. A session and its neighbour in time at the other are a pair. The distance is the root of the mean over prompts of the squared difference of the shares of the
likeliest first token, less what the spread of sessions adds. Whole sessions are exchanged within their pairs: p 0.01 of 299 and a distance of 0.1 fail, p 0.05 alone
is inconclusive. A difference is a difference, and not yet another model: hardware, rounding, a system prompt (SOLD-02) and the region move answers, too. It cannot detect
another model for a tenth of the requests, or a close relative of the model.`,
  ...whenPromised(
    ['models.reference'],
    async (evidence): Promise<Verdict> => {
      const { models } = evidence.contract
      const own = await tokenSessions(evidence, evidence.runIds, (name) => {
        const model = modelNamed(models, name)
        return model?.reference === undefined ? undefined : model
      })
      const references = await referencesIn(evidence)
      const verdicts = await Promise.all(
        [...Map.groupBy(own, ({ model }) => model)].map(async ([model, sessions]) => ({
          model,
          verdict: verdictOf(sessions, await sessionsAt(references.get(model)!)),
        })),
      )
      return worstOf(verdicts, requires)
    },
    async (evidence) => {
      const { models } = (await measuring(evidence)).contract
      const own = await tokenSessions(evidence, evidence.runIds, (name) => modelNamed(models, name))
      if (own.length === 0) return
      const shares = [...likeliestOf(own)].flatMap(([prompt, token]) =>
        own.flatMap((session) => shareOf(session, prompt, token) ?? []),
      )
      const mean = shares.reduce((sum, each) => sum + each, 0) / shares.length
      return `the likeliest first token of a prompt has ${Math.round(100 * mean)} % of the answers of ${own.length} sessions; nothing is named to compare them with`
    },
  ),
}

/** The sessions of a model at its reference. */
const sessionsAt = ({ model, evidence }: AtReference): Promise<readonly TokenSession[]> =>
  tokenSessions(evidence, evidence.runIds, (name) => modelNamed([model], name))

function verdictOf(own: readonly TokenSession[], others: readonly TokenSession[]): Verdict {
  const tokens = [...likeliestOf([...own, ...others])]
  const sharesOf = (session: TokenSession) =>
    tokens.map(([prompt, token]) => shareOf(session, prompt, token))
  const pairs = neighbours(own, others)
  const found = judgeNamed(
    pairs.map(([service, reference]) => ({
      service: sharesOf(service),
      reference: sharesOf(reference),
    })),
    drawsOf(own[0]!.witness.runId),
  )
  if (found.is === 'unseen') return notObserved(requires)
  const observations = 2 * pairs.length
  const said = `first tokens differ from the reference by ${found.apart.toFixed(2)} on average (p ${Number(found.p.toFixed(3))}, ${pairs.length} pairs of sessions)`
  switch (found.is) {
    case 'few':
      return inconclusive(observations, `${said}; ${leastSessions} pairs decide`)
    case 'inconclusive':
      return inconclusive(observations, said)
    case 'pass':
      return pass(observations, { note: said })
    case 'fail': {
      const [first, ...more] = pairs
        .slice(0, 5)
        .map(([{ witness }]) => ({ ...witness, shows: `session of ${witness.shows}` }))
      return fail(observations, {
        expected: 'answers as those of the reference',
        observed: `${said[0]!.toUpperCase()}${said.slice(1)}: another model, quantization, hardware, or another system prompt.`,
        witnesses: [first!, ...more],
      })
    }
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
