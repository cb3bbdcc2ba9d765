import type { Model } from '../../../contract/contract.ts'
import type { Usage } from '../../../tokens/usage.ts'
import { largest } from '../../../user/extremes.ts'
import { isObject } from '../../../user/json.ts'
import { type Exchange, firstShown, shownBy } from '../../evidence/exchange.ts'
import { referencesIn } from '../../evidence/sold/at-reference.ts'
import { exchangesByModel, overModels } from '../../evidence/sold/by-model.ts'
import { drawsOf } from '../../evidence/sold/chance.ts'
import { judgedOrMeasured } from '../../evidence/sold/measured.ts'
import { overcharge } from '../../evidence/sold/overcharge.ts'
import { leastPairs, ratioBetween } from '../../evidence/sold/ratio.ts'
import {
  hiddenStreamOf,
  judgeReasoning,
  logsOf,
  mostLonger,
  type ReasoningPair,
  reasonedUsage,
  reasoningPairs,
} from '../../evidence/sold/reasoning.ts'
import { isTooFast, mostSpeed } from '../../evidence/sold/speed.ts'
import { type Evidence, hasPromises, type Rule } from '../../rule.ts'
import {
  fail,
  figuresOf,
  inconclusive,
  type MeasuredFigure,
  notObserved,
  pass,
  type Verdict,
  withFigures,
} from '../../verdict.ts'

const requires = 'an answer that reports reasoning tokens, stored whole (capture: all)'

const byMost = judgedOrMeasured('models.max_reasoning_tokens', decide, 'maxReasoningTokens')

export const sold10: Rule = {
  id: 'SOLD-10',
  title: 'Reasoning tokens are possible',
  section: 'contract: models, max_reasoning_tokens, reference',
  explain: `Reads the reasoning tokens of each answer. They are at most all output tokens, at most max_reasoning_tokens of the contract and the
limit that the request states, and none where the request asks for none (reasoning_effort: none). A stream whose reasoning is hidden has no more tokens than its
whole time holds at twice the highest speed at which visible text of the model was seen, in ten streams or more. A service that holds back visible text, and
writes hidden text faster, looks the same. Where the contract names a reference, and its runs are in the store, answers to ${leastPairs} equal requests at both are compared: more than
${mostLonger} times the reasoning of the reference, at p 0.005 of 999 changes of signs, fails; less at p 0.05 passes. Everything else is inconclusive: hidden text
cannot be counted from outside, and a count alone never passes.`,
  promised: byMost.promised,
  decide: (evidence) =>
    hasPromises(evidence, ['models.reference']) ? decide(evidence) : byMost.decide(evidence),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  const references = await referencesIn(evidence)
  return overModels(await exchangesByModel(evidence), requires, async (model, exchanges) => {
    if (model.maxReasoningTokens === undefined && model.reference === undefined) return []
    const reference = references.get(model)
    const there =
      reference === undefined
        ? []
        : ((await exchangesByModel(reference.evidence)).get(reference.model) ?? [])
    const answered = exchanges.filter(({ isOk }) => isOk)
    return verdictOf(evidence, model, answered, reasoningPairs(answered, there))
  })
}

async function verdictOf(
  evidence: Evidence,
  model: Model,
  answered: readonly Exchange[],
  pairs: readonly ReasoningPair[],
): Promise<Verdict> {
  const speed = mostSpeed(answered.flatMap((each) => hiddenStreamOf(each) ?? []))
  const seen = answered.flatMap((exchange) => {
    const usage = reasonedUsage(exchange)
    return usage === null || usage.parts.reasoning === 0 ? [] : [{ exchange, usage }]
  })
  const [longest] = seen
  if (longest === undefined) return notObserved(requires)
  const observations = seen.length
  const broken = seen.flatMap(({ exchange, usage }) => {
    const wrong = wrongWith(exchange, usage, model.maxReasoningTokens) ?? tooFast(exchange, speed)
    return wrong === null ? [] : [shownBy(exchange, wrong)]
  })
  const [first] = broken
  if (first !== undefined)
    return fail(observations, {
      expected: 'no more reasoning than all output, the contract and the request allow',
      observed: `${first.shows}; ${broken.length} of ${observations} answers`,
      witnesses: broken.slice(0, 5),
    })
  const found = judgeReasoning(pairs, drawsOf(longest.exchange.row.runId))
  const most = largest([0, ...seen.map(({ usage }) => usage.parts.reasoning!)])
  if (found.is === 'unseen')
    return inconclusive(
      observations,
      `at most ${most.toLocaleString('en')} tokens of reasoning in an answer, none of which is impossible in itself; hidden text cannot be counted from outside`,
    )
  const figures: readonly MeasuredFigure[] = [{ name: 'reasoning', ...ratioBetween(logsOf(pairs)) }]
  const said = `for ${pairs.length} questions, ${found.ratio.toFixed(2)} times the reasoning of the reference`
  const open = (why: string) => withFigures(inconclusive(observations, why), figures)
  switch (found.is) {
    case 'few':
      return open(`${said}; ${leastPairs} questions at both decide`)
    case 'pass':
      return pass(observations, { note: `${said} (p ${found.p})`, figures })
    case 'inconclusive':
      return open(`${said}; ${mostLonger} times is allowed (p ${found.p})`)
    case 'fail': {
      const verdict = await ofReference(evidence, model, seen, pairs, `${said} (p ${found.p})`)
      return withFigures(verdict, [...figures, ...figuresOf(verdict)])
    }
  }
}

/** More reasoning than at the reference, and what it costs. */
async function ofReference(
  evidence: Evidence,
  model: Model,
  seen: readonly { readonly exchange: Exchange; readonly usage: Usage }[],
  pairs: readonly ReasoningPair[],
  said: string,
): Promise<Verdict> {
  const sum = (of: 'own' | 'reference') => pairs.reduce((total, each) => total + each[of], 0)
  const reasoning = seen.reduce((total, { usage }) => total + usage.parts.reasoning!, 0)
  const output = seen.reduce((total, { exchange }) => total + exchange.row.completionTokens!, 0)
  const share = (1 - sum('reference') / sum('own')) * (reasoning / output)
  const tooMany = (reported: number) => Math.floor(reported * share)
  const over = await overcharge(evidence, model, tooMany, 'completionTokens')
  return fail(seen.length, {
    expected: `at most ${mostLonger} times the reasoning of the reference`,
    observed: `F${said.slice(1)}. If all answers report so, that is about ${over.said}.`,
    witnesses: firstShown(
      seen,
      ({ exchange: { row }, usage }) =>
        `${usage.parts.reasoning} of ${row.completionTokens} tokens are reasoning`,
    ),
    figures: over.figures,
  })
}

function wrongWith(
  exchange: Exchange,
  { parts, flags }: Usage,
  most: number | undefined,
): string | null {
  const reasoning = parts.reasoning!
  if (flags.includes('parts>output'))
    return `${reasoning} tokens of reasoning, which is more than all output`
  if (most !== undefined && reasoning > most)
    return `${reasoning} tokens of reasoning; the contract promises at most ${most}`
  const limit = exchange.requestField('max_completion_tokens')
  if (typeof limit === 'number' && reasoning > limit)
    return `${reasoning} tokens of reasoning for max_completion_tokens ${limit}`
  const nested = exchange.requestField('reasoning')
  const effort =
    exchange.requestField('reasoning_effort') ?? (isObject(nested) ? nested.effort : undefined)
  return effort === 'none'
    ? `${reasoning} tokens of reasoning, and the request asks for none`
    : null
}

function tooFast(exchange: Exchange, most: number | null): string | null {
  const stream = most === null ? null : hiddenStreamOf(exchange)
  if (stream === null || !isTooFast(stream, most!)) return null
  const seconds = (us: number) => `${(us / 1e6).toFixed(3)} s`
  return `${stream.reasoning} tokens of reasoning beside ${stream.visible} of text in ${seconds(stream.wholeUs)}; twice the highest speed seen gives ${Math.floor(most! * stream.wholeUs)} in all`
}
