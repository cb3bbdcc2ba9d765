import type { Contract, Model } from '../../../contract/contract.ts'
import { maxTokensOf } from '../../../contract/request-fields.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import { isObject } from '../../../user/json.ts'
import { chatTexts } from '../../evidence/chat-texts.ts'
import { type Exchange, firstShown, shownBy } from '../../evidence/exchange.ts'
import { exchangesByModel, overModels } from '../../evidence/sold/by-model.ts'
import { shareBetween } from '../../evidence/sold/chance.ts'
import {
  type CodeTrial,
  type ContextResult,
  fullShare,
  type Hole,
  judgeContext,
  leastAgain,
  leastCodes,
  mostControlTokens,
} from '../../evidence/sold/context.ts'
import { countOf } from '../../evidence/sold/encodings.ts'
import { measuredIn, measuring } from '../../evidence/sold/measured.ts'
import { soleTextOf } from '../../evidence/sold/sole-texts.ts'
import { type Evidence, type Rule, whenPromised } from '../../rule.ts'
import {
  fail,
  inconclusive,
  type MeasuredFigure,
  notObserved,
  pass,
  type Verdict,
  withFigures,
} from '../../verdict.ts'

const requires = `a prompt of ${fullShare * 100} % of the window or more with ${leastCodes} codes or more, answered and stored whole (scenarios/audit-context.yaml, with its size set to the window)`

/** A prompt that was answered, and what the service reports of its tokens. */
interface Answered {
  readonly exchange: Exchange
  readonly tokens: number
  readonly reported: number | null
}

type Trial = CodeTrial & Answered

export const sold03: Rule = {
  id: 'SOLD-03',
  title: 'The context window is as large as sold',
  section: 'contract: models, context_window_tokens',
  needs: ['active'],
  explain: `A prompt of ${fullShare * 100} % of the window or more holds codes of six digits, and asks for all of them. Five missing in a row are a
hole. Later prompts ask for other codes inside it: if none of ${leastAgain} is found the part was not read, and four that are found show that it was. A short prompt
with codes is the control: a model that lists less than 90 % of them shows nothing. Two prompts that the service counts below
90 % of their text, and a refusal for its length of a prompt that fits the window, fail as well. Tokens of a text are counted by the encoding of the
contract, or else by o200k times what the service counts for each of those of the short prompts; without those either, counts and refusals decide nothing. It cannot detect losses below 12 % of the window, truncation of a share of the requests, or a compression that keeps digits.`,
  ...whenPromised(
    ['models.context_window_tokens'],
    (evidence) => decide(evidence, ({ contextWindowTokens }) => contextWindowTokens),
    async (evidence) => measuredIn(await decide(await measuring(evidence), () => null)),
  ),
}

/** @param windowOf the promised tokens; null for the longest prompt with codes; undefined for a model that is not judged */
async function decide(
  evidence: Evidence,
  windowOf: (model: Model) => number | null | undefined,
): Promise<Verdict> {
  return overModels(await exchangesByModel(evidence), requires, (model, exchanges) => {
    const promised = windowOf(model)
    return promised === undefined
      ? []
      : verdictOf(model, promised, exchanges, evidence.contract.limits)
  })
}

/** Where the contract does not say how much the template adds. */
const mostTemplate = 500

/** Tokens of output that the request reserves in the window. */
const mostOutputOf = ({ requestJson }: Exchange): number =>
  (isObject(requestJson) ? maxTokensOf(requestJson) : null) ?? 0

const unknownTokens =
  'the contract names no tokenizer, and no short prompt with codes shows how many tokens the model has for such a text'

const reportedOf = ({ isOk, row }: Exchange) => (isOk ? row.promptTokens : null)

/** Between what the model has for each token of o200k: by short prompts, which nobody truncates. Null without any. */
function scaleOf(
  prompts: readonly { readonly tokens: number; readonly reported: number | null }[],
  template: number,
): { readonly most: number; readonly least: number } | null {
  const short = prompts.flatMap(({ tokens, reported }) =>
    tokens > mostControlTokens || reported === null ? [] : [{ tokens, reported }],
  )
  if (short.length === 0) return null
  return {
    most: largest(short.map(({ tokens, reported }) => reported / tokens)),
    least: smallest(short.map(({ tokens, reported }) => (reported - template) / tokens)),
  }
}

const number = (value: number) => value.toLocaleString('en')

const mostTokensOf = (prompts: readonly { readonly tokens: number }[]) =>
  largest([0, ...prompts.map(({ tokens }) => tokens)])

const code = /\bcode (\d{6})\b/gi

async function verdictOf(
  model: Model,
  promised: number | null,
  exchanges: readonly Exchange[],
  limits: Contract['limits'],
): Promise<Verdict> {
  const listed = exchanges.flatMap((exchange) => {
    const text = soleTextOf(exchange.requestJson)
    const codes = text === null ? [] : [...text.matchAll(code)]
    return text === null || codes.length < leastCodes ? [] : [{ exchange, text, codes }]
  })
  // Without such a prompt nothing is counted, and a tokenizer is megabytes.
  if (listed.length === 0) return notObserved(requires)
  const count = await countOf(model.tokenizer ?? 'o200k')
  const counted = listed.flatMap((each) => {
    const tokens = count(each.text)
    return tokens === null ? [] : [{ ...each, tokens, reported: reportedOf(each.exchange) }]
  })
  // The model's own encoding may have more or fewer tokens than o200k.
  const template = model.templateTokens ?? mostTemplate
  const scale = model.tokenizer === undefined ? scaleOf(counted, template) : { most: 1, least: 1 }
  const asked = counted.map((each) => ({
    ...each,
    tokens: Math.round(each.tokens * (scale?.most ?? 1)),
    leastTokens: Math.round(each.tokens * (scale?.least ?? 1)),
  }))
  const window = promised ?? mostTokensOf(asked)
  const tooLong = asked.filter(
    ({ exchange, tokens }) =>
      tokens + template + mostOutputOf(exchange) <= window &&
      exchange.row.errorCode === 'context_length_exceeded',
  )
  const { maxInputTokens = window, maxTotalTokens = window } = limits ?? {}
  const refused = tooLong.find(
    ({ exchange, tokens }) =>
      tokens + template <= maxInputTokens &&
      tokens + template + mostOutputOf(exchange) <= maxTotalTokens,
  )
  if (tooLong.length > 0 && refused === undefined)
    return inconclusive(
      asked.length,
      `a prompt of ${number(tooLong[0]!.tokens)} tokens is refused as too long; it fits the window of the model, and not the limits of the contract (limits): which of them holds is open (gap G-30)`,
    )
  if (refused !== undefined && scale === null)
    return inconclusive(
      asked.length,
      `a prompt of ${number(refused.tokens)} tokens by o200k is refused as too long; ${unknownTokens}`,
    )
  if (refused !== undefined)
    return fail(asked.length, {
      expected: `prompts of up to ${window} tokens`,
      observed: `A prompt of ${number(refused.tokens)} tokens is refused as too long; the contract promises a window of ${number(window)}.`,
      witnesses: [shownBy(refused.exchange, `${refused.tokens} tokens, refused as too long`)],
    })
  const answered = asked.filter(({ exchange }) => exchange.isOk)
  // What is counted does not depend on the answer.
  const full = answered.filter(({ tokens }) => tokens >= fullShare * window)
  const [short, second] = full.filter(
    // Some services count cached tokens beside the others.
    ({ exchange, leastTokens, reported }) =>
      reported !== null && reported + (exchange.row.cachedTokens ?? 0) < fullShare * leastTokens,
  )
  if (short !== undefined && scale === null)
    return inconclusive(
      answered.length,
      `of a prompt of ${number(short.tokens)} tokens by o200k the service counts ${number(short.reported!)}; ${unknownTokens}`,
    )
  if (short !== undefined && second !== undefined)
    return fail(answered.length, {
      expected: `all tokens of a prompt that fits the window of ${window}`,
      observed: `Of prompts of ${number(short.tokens)} tokens the service counts ${number(short.reported!)}: the rest was not read.`,
      witnesses: [
        shownBy(short.exchange, `${short.reported} of ${short.tokens} tokens counted`),
        shownBy(second.exchange, `${second.reported} of ${second.tokens} tokens counted`),
      ],
    })
  const cut = full.filter(({ exchange }) => exchange.row.finishReason === 'length').length
  if (cut > 0 && cut === full.length)
    return inconclusive(
      answered.length,
      `${cut === 1 ? 'the answer to the long prompt was' : `all ${cut} answers to long prompts were`} cut by max_tokens, and what a cut answer lacks shows nothing; raise max_tokens`,
    )
  const trials = answered.flatMap(({ exchange, text, codes, tokens, reported }): Trial[] => {
    const answer = [...(chatTexts(exchange)?.values() ?? [])][0]
    // An answer that was cut may have missed what came after.
    if (answer === undefined || exchange.row.finishReason === 'length') return []
    const found = codes.map((each) => ({
      depth: each.index / text.length,
      isFound: answer.includes(each[1]!),
    }))
    return [{ exchange, tokens, codes: found, reported }]
  })
  return withFigures(
    saidOf(judgeContext(trials, window), trials, window),
    codesFound(trials, window),
  )
}

function codesFound(trials: readonly Trial[], window: number): readonly MeasuredFigure[] {
  const codes = trials
    .filter(({ tokens }) => tokens >= fullShare * window)
    .flatMap((trial) => trial.codes)
  const found = codes.filter(({ isFound }) => isFound).length
  const [value, between] = [found / codes.length, shareBetween(found, codes.length)]
  return codes.length === 0 ? [] : [{ name: 'codes_found', value, ...between }]
}

function saidOf(found: ContextResult, trials: readonly Trial[], window: number): Verdict {
  const observations = trials.length
  switch (found.is) {
    case 'unseen':
      return notObserved(requires)
    case 'pass':
      return pass(observations, {
        note: `${found.found} of ${found.of} codes of a prompt of ${number(mostTokensOf(trials))} tokens found${found.hole === undefined ? '' : `; later ones ${shown(found.hole)} as well`}`,
      })
    case 'inconclusive':
      return inconclusive(observations, whyOf(found))
    case 'fail': {
      const full = trials.filter(({ tokens }) => tokens >= fullShare * window)
      const hits = ({ codes }: Trial) => codes.filter(({ isFound }) => isFound).length
      const witnesses = firstShown(
        full,
        (each) => `${hits(each)} of ${each.codes.length} codes found`,
      )
      const tokens = full[0]!.tokens
      return fail(observations, {
        expected: `a window of ${number(window)} tokens that is read`,
        observed: `Of ${found.again} codes ${shown(found.hole)} of a prompt of ${number(tokens)} tokens none was found, and a short prompt shows that the model lists them: that part was not read${full[0]!.reported === null ? '' : `, and ${number(full[0]!.reported)} tokens are counted`}.`,
        witnesses,
      })
    }
  }
}

function whyOf(found: Extract<ContextResult, { is: 'inconclusive' }>): string {
  switch (found.why) {
    case 'no-control':
      return 'no short prompt with codes shows that the model can list them (scenarios/audit-context.yaml)'
    case 'control':
      return `the model lists only ${found.hits} of ${found.of} codes of a short prompt`
    case 'again':
      return `no code ${shown(found.hole!)} was found; ${found.of} of ${leastAgain} later codes there were asked for. Send two more with between: [${found.hole!.from.toFixed(2)}, ${found.hole!.to.toFixed(2)}]`
    case 'few-hits':
      return `only ${found.hits} of ${found.of} later codes ${shown(found.hole!)} were found: a weak model, or a part that is often dropped`
  }
}

const shown = ({ from, to }: Hole) =>
  `between ${Math.round(from * 100)} % and ${Math.round(to * 100)} %`
