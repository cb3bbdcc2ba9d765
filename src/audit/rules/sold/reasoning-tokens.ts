import { modelNamed } from '../../../contract/contract.ts'
import type { Usage } from '../../../tokens/usage.ts'
import { largest } from '../../../user/extremes.ts'
import { showsMoreThanText } from '../../evidence/chat-texts.ts'
import { type Exchange, exchangesOf } from '../../evidence/exchange.ts'
import { isObject } from '../../evidence/json.ts'
import { answerUsage } from '../../evidence/prices/answer-json.ts'
import { measuredIn, measuring } from '../../evidence/sold/measured.ts'
import { type HiddenStream, isTooFast, mostSpeed } from '../../evidence/sold/speed.ts'
import { type Evidence, type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, type Verdict, type Witness } from '../../verdict.ts'

const requires = 'an answer that reports reasoning tokens, stored whole (capture: all)'

export const sold10: Rule = {
  id: 'SOLD-10',
  title: 'Reasoning tokens are possible',
  section: 'contract: models, max_reasoning_tokens',
  severity: 'must',
  needs: ['passive'],
  explain: `Reads the reasoning tokens of each answer. They are at most all output tokens, at most max_reasoning_tokens of the contract and the
limit that the request states, and none where the request asks for none (reasoning_effort: none). A stream whose reasoning is hidden has no more tokens than its
whole time holds at twice the highest speed at which visible text of the model was seen, in ten streams or more. A service that holds back visible text, and
writes hidden text faster, looks the same. Everything else is inconclusive: hidden text
cannot be counted from outside, and a count alone never passes.`,
  ...whenPromised(
    ['models.max_reasoning_tokens'],
    (evidence) => decide(evidence),
    async (evidence) => measuredIn(await decide(await measuring(evidence, 'maxReasoningTokens'))),
  ),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  const { models = [] } = evidence.contract
  const byModel = Map.groupBy(await exchangesOf(evidence), ({ row }) =>
    modelNamed(models, row.model ?? ''),
  )
  const seen = [...byModel].flatMap(([model, exchanges]) => {
    const most = model?.maxReasoningTokens
    if (most === undefined) return []
    const answered = exchanges.filter(({ isOk }) => isOk)
    const speed = mostSpeed(answered.flatMap((each) => hiddenStreamOf(each) ?? []))
    return answered.flatMap((exchange) => {
      const usage = usageOf(exchange)
      return usage === null
        ? []
        : [{ exchange, usage, wrong: wrongWith(exchange, usage, most) ?? tooFast(exchange, speed) }]
    })
  })
  if (seen.length === 0) return notObserved(requires)
  const [first, ...others] = seen.flatMap(({ exchange: { row }, wrong }): Witness[] =>
    wrong === null ? [] : [{ runId: row.runId, slot: row.slot, retry: row.retry, shows: wrong }],
  )
  const observations = seen.length
  if (first === undefined)
    return inconclusive(
      observations,
      `at most ${largest(
        seen.map(({ usage }) => usage.parts.reasoning!),
        0,
      ).toLocaleString(
        'en',
      )} tokens of reasoning in an answer, none of which is impossible in itself; hidden text cannot be counted from outside`,
    )
  return fail(observations, {
    expected: 'no more reasoning than all output, the contract and the request allow',
    observed: `${first.shows}; ${others.length + 1} of ${observations} answers`,
    witnesses: [first, ...others.slice(0, 4)],
  })
}

/** Null without reasoning. */
function usageOf(exchange: Exchange): Usage | null {
  const documents = exchange.isStream
    ? exchange.events?.events.map(({ json }) => json)
    : [exchange.responseJson]
  const known = (documents ?? []).filter((json) => json !== undefined)
  const { usage } = answerUsage(known, null, exchange.row.endpoint)
  return usage === null || (usage.parts.reasoning ?? 0) === 0 ? null : usage
}

function wrongWith(exchange: Exchange, { parts, flags }: Usage, most: number): string | null {
  const reasoning = parts.reasoning!
  if (flags.includes('parts>output'))
    return `${reasoning} tokens of reasoning, which is more than all output`
  if (reasoning > most)
    return `${reasoning} tokens of reasoning; the contract promises at most ${most}`
  const limit = exchange.requestField('max_completion_tokens')
  if (typeof limit === 'number' && reasoning > limit)
    return `${reasoning} tokens of reasoning for max_completion_tokens ${limit}`
  const nested = exchange.requestField('reasoning')
  const effort =
    exchange.requestField('reasoning_effort') ?? (isObject(nested) ? nested.effort : undefined)
  return effort === 'none' && reasoning > 0
    ? `${reasoning} tokens of reasoning, and the request asks for none`
    : null
}

/** A stream of one text, whose times and tokens are known, and whose reasoning is not shown; null for any other. */
function hiddenStreamOf(exchange: Exchange): HiddenStream | null {
  const { completionTokens, firstContentUs, lastContentUs, closedUs, sentUs, choices } =
    exchange.row
  if (!exchange.isStream || !exchange.isWhole || (choices ?? 1) > 1) return null
  if (completionTokens === null || closedUs === null) return null
  if (firstContentUs === null || lastContentUs === null) return null
  if (showsMoreThanText(exchange.row.responseBody ?? '')) return null
  const reasoning = usageOf(exchange)?.parts.reasoning ?? 0
  return {
    ...{ reasoning, visible: completionTokens - reasoning },
    ...{ textUs: lastContentUs - firstContentUs, wholeUs: closedUs - sentUs },
  }
}

function tooFast(exchange: Exchange, most: number | null): string | null {
  const stream = most === null ? null : hiddenStreamOf(exchange)
  if (stream === null || !isTooFast(stream, most!)) return null
  const seconds = (us: number) => `${(us / 1e6).toFixed(3)} s`
  return `${stream.reasoning} tokens of reasoning beside ${stream.visible} of text in ${seconds(stream.wholeUs)}; twice the highest speed seen gives ${Math.floor(most! * stream.wholeUs)} in all`
}
