import { overModels } from '../../evidence/sold/by-model.ts'
import { drawsOf } from '../../evidence/sold/chance.ts'
import { judgedOrMeasured } from '../../evidence/sold/measured.ts'
import { movedEvidence } from '../../evidence/sold/moved.ts'
import {
  isSinceFixed,
  likeliestOf,
  sharesOf,
  shownTime,
  type TokenSession,
  tokenSessions,
} from '../../evidence/sold/sessions.ts'
import { splitOf } from '../../evidence/sold/splits.ts'
import {
  doubtAt,
  judgeWatch,
  leastSince,
  referenceSessions,
  type WatchResult,
} from '../../evidence/sold/watch.ts'
import type { Evidence, Rule } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, withFigures } from '../../verdict.ts'

const requires = `${referenceSessions + leastSince} sessions of short prompts with max_tokens: 1, stored whole (scenarios/integrity-session.yaml, from cron)`

export const sold05: Rule = {
  id: 'SOLD-05',
  title: 'The model does not change',
  section: 'contract: models, fixed',
  needs: ['active'],
  explain: `Reads all sessions of a store: phases that ask the same short prompts for one token each, several times. The first ${referenceSessions} are the
reference. The distance of a later session is the mean over prompts of the difference of the shares of the likeliest first token. Its rank among all
since is a p-value, whatever the noise; bets on small ones start with a wealth of 1, and an honest model ever reaches 100 with a chance of at most 1 %, over
the whole life of the watch: a fail, with the date of the change. A wealth of ${doubtAt}, or fewer than ${leastSince} sessions since, is inconclusive. Several watches
alarm at as many times the wealth. Where the sessions of one half of the day, or of one key, answer otherwise from the beginning on (the distance of SOLD-06, p 0.01), nothing
changed, and the rule is inconclusive. After a change that was told, fixed: 2026-03-14 begins anew. It cannot detect another model for a quarter of the requests or less, a
slight quantization, what reasoning models change, or a change soon after the reference: twenty sessions between them suffice. A load that grows for weeks may alarm.`,
  ...judgedOrMeasured('models.fixed', decide, 'fixed'),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  const sessions = (await tokenSessions(evidence, 'fixed')).filter(isSinceFixed)
  const byModel = Map.groupBy(sessions, ({ model }) => model)
  const watches = [...byModel.values()].flatMap(watchesOf).length
  return overModels(byModel, requires, (_, own) =>
    watchesOf(own).map((watch) => verdictOf(watch, watches)),
  )
}

/** Sessions with other prompts are another watch: half of its prompts are those of the reference, or it begins anew. */
function watchesOf(sessions: readonly TokenSession[]): readonly (readonly TokenSession[])[] {
  const watches: TokenSession[][] = []
  for (const session of sessions) {
    const watch = watches.find((each) => {
      const known = new Set(
        each.slice(0, referenceSessions).flatMap(({ answers }) => [...answers.keys()]),
      )
      const prompts = [...session.answers.keys()]
      return 2 * prompts.filter((prompt) => known.has(prompt)).length >= prompts.length
    })
    if (watch === undefined) watches.push([session])
    else watch.push(session)
  }
  return watches
}

function verdictOf(watch: readonly TokenSession[], watches: number): Verdict {
  const reference = watch.slice(0, referenceSessions)
  const tokens = [...likeliestOf(reference)]
  const found = judgeWatch(sharesOf(watch, tokens), watches, drawsOf(watch[0]!.witness.runId))
  const wealth = `e-value ${Number(found.wealth.toPrecision(3))}`
  return withFigures(saidOf(watch, found, tokens, wealth, watches), [
    { name: 'e_value', value: found.wealth },
  ])
}

function saidOf(
  watch: readonly TokenSession[],
  found: WatchResult,
  tokens: readonly (readonly [string, string])[],
  wealth: string,
  watches: number,
): Verdict {
  switch (found.is) {
    case 'few':
      return watch.length <= referenceSessions
        ? notObserved(`${requires}; ${watch.length} were seen`)
        : inconclusive(
            watch.length,
            `only ${found.since} of ${leastSince} sessions since the ${referenceSessions} of the reference (${wealth})`,
          )
    case 'inconclusive':
      return inconclusive(
        watch.length,
        `the answers to ${tokens.length} fixed prompts differ from those before by what may be chance (${wealth} of ${100 * watches} that alarm)`,
      )
    case 'pass': {
      const split = splitOf(watch, tokens, drawsOf(watch[0]!.witness.runId))
      return split === null
        ? pass(watch.length, {
            note: `${found.since} sessions since the ${referenceSessions} of the reference fit (${wealth}); another model for a quarter of the requests, or a slight quantization, would not show`,
          })
        : inconclusive(
            watch.length,
            `the ${split.sessions} sessions ${split.which} answer otherwise than the others, by ${split.found.apart.toFixed(2)} on average (p ${Number(split.found.p.toFixed(3))}), and did from the beginning: another model there, or another load; a reference tells (SOLD-06)`,
          )
    }
    case 'fail':
      return changed(watch, found, tokens, wealth)
  }
}

function changed(
  watch: readonly TokenSession[],
  { change: { at, from, to } }: Extract<WatchResult, { is: 'fail' }>,
  tokens: readonly (readonly [string, string])[],
  wealth: string,
): Verdict {
  const time = (place: number) => shownTime(watch[place]!.atUs)
  return fail(watch.length, {
    expected: 'one model behind the name',
    observed: `Since ${time(at)} (${time(Math.max(0, from - 1))} to ${time(to)}) the answers to ${tokens.length} fixed prompts differ from the ${at} sessions before (${wealth}).`,
    ...movedEvidence(tokens, {
      model: watch[0]!.model.id,
      groups: [watch.slice(0, at), watch.slice(at)],
      words: ['before', 'since'],
    }),
  })
}
