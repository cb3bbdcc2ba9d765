import type { Model, Tokenizer } from '../../../contract/contract.ts'
import { chatTexts, showsMoreThanText } from '../../evidence/chat-texts.ts'
import { type Exchange, firstShown } from '../../evidence/exchange.ts'
import { type AtReference, referencesIn } from '../../evidence/sold/at-reference.ts'
import { exchangesByModel, overModels } from '../../evidence/sold/by-model.ts'
import { countOf, shownTokenizer } from '../../evidence/sold/encodings.ts'
import { judgedOrMeasured } from '../../evidence/sold/measured.ts'
import {
  fails,
  judgeOutputs,
  leastAccusing,
  leastAnswers,
  leastReported,
  type OutputPoint,
  type OutputResult,
} from '../../evidence/sold/output.ts'
import { overcharge } from '../../evidence/sold/overcharge.ts'
import { byStreaming, failingPart } from '../../evidence/sold/parts.ts'
import { reasonedUsage } from '../../evidence/sold/reasoning.ts'
import { textPrice } from '../../evidence/sold/text-price.ts'
import type { Evidence, Rule } from '../../rule.ts'
import {
  fail,
  inconclusive,
  type MeasuredFigure,
  notObserved,
  pass,
  type Verdict,
  withFigures,
} from '../../verdict.ts'

const requires = `${leastAnswers} answers of one text with ${leastReported} tokens or more, stored whole (capture: all), by a model with tokenizer in the contract and without reasoning`

export const sold09: Rule = {
  id: 'SOLD-09',
  title: 'Output tokens are those of the answer',
  section: 'contract: models, tokenizer',
  severity: 'advice',
  explain: `Counts the text of each answer of ${leastReported} tokens or more by the encoding that the contract names, and compares the sum with what
the service reports. Up to 2 % more passes, unless single answers have far more; more than 4 % fails, if answers of ${leastAccusing} tokens or more have as much: in shorter ones, a few tokens of a template are a large share. It is advice: a model may write a text in more pieces than its
encoding needs, and only measuring the same model elsewhere shows how many. ${leastAnswers} answers at the reference of the contract, in the same store, show it: their excess is
subtracted, and the rule is a must. Streams and plain answers are judged apart. Models with reasoning, answers that report reasoning tokens, tool calls and several choices are left out.
It cannot detect an excess that the pieces of a text can hide.`,
  ...judgedOrMeasured('models.tokenizer', decide, 'tokenizer'),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  const references = await referencesIn(evidence)
  return overModels(await exchangesByModel(evidence), requires, (model, exchanges) =>
    model.tokenizer === undefined || model.reasoning
      ? []
      : verdictOf(evidence, model, model.tokenizer, exchanges, references.get(model)),
  )
}

async function verdictOf(
  evidence: Evidence,
  model: Model,
  tokenizer: Tokenizer,
  exchanges: readonly Exchange[],
  reference: AtReference | undefined,
): Promise<Verdict> {
  const answers = longAnswersOf(exchanges)
  // Without such an answer nothing is counted, and a tokenizer is megabytes.
  if (answers.length === 0) return notObserved(requires)
  const count = await countOf(tokenizer)
  const encoding = shownTokenizer(tokenizer)
  const points = pointsOf(answers, count)
  const atReference = reference === undefined ? null : await excessAt(reference, count)
  const judge = (some: readonly OutputPoint[]) => judgeOutputs(some, atReference ?? 0)
  // Pieces differ by chance, so that of many runs one may have more than others.
  const { part, found, own } = failingPart(points, judge, [byStreaming])
  if (found.is === 'unseen') return notObserved(requires)
  const observations = own.length
  const total = (of: 'reported' | 'counted') =>
    own.map((each) => each[of]).reduce((sum, each) => sum + each, 0)
  const sum = (of: 'reported' | 'counted') => total(of).toLocaleString('en')
  const value = total('reported') / total('counted')
  const figures: readonly MeasuredFigure[] = [
    { name: 'output_tokens', of: encoding, value },
    ...(await textPrice(evidence, model, 'answer_price', { of: encoding, value })),
  ]
  const there =
    atReference === null
      ? ''
      : `; those of the reference have ${percent(1 - atReference)} of theirs`
  const said = `${observations} answers of ${sum('reported')} counted tokens have ${sum('counted')} by ${encoding}${there}`
  if (found.is === 'pass') return pass(observations, { note: said, figures })
  if (found.is !== 'fail') {
    return withFigures(inconclusive(observations, `${said}${openText(found)}`), figures)
  }
  const tooMany = (reported: number) => Math.floor(reported * found.excess)
  const over = await overcharge(evidence, model, tooMany, 'completionTokens', part)
  return fail(observations, {
    ...(atReference === null ? {} : { severity: 'must' }),
    expected: `at most 4 % more tokens than the texts have${atReference === null ? '' : ', beside what the reference has'}`,
    observed: `${part === undefined ? said : `${part.said}: ${said}`}. If all ${part === undefined ? 'answers' : 'of them'} are counted so, that is about ${over.said}.`,
    witnesses: firstShown(
      own,
      ({ reported, counted }) =>
        `${reported} tokens reported, ${counted} of ${encoding} in the answer`,
    ),
    figures: [...figures, ...over.figures],
  })
}

/** What an open verdict lacks. */
function openText({ is, odd, excess }: Exclude<OutputResult, { is: 'unseen' }>): string {
  if (is === 'few') return `; ${leastAnswers} answers would decide`
  if (odd !== undefined) return `; but ${odd} of them have many tokens too many`
  return excess > fails ? `; ${leastAnswers} answers of ${leastAccusing} tokens would decide` : ''
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`

/** By how much the model's answers at its reference exceed their texts; null if too few were sent there. */
async function excessAt({ model, evidence }: AtReference, count: Count): Promise<number | null> {
  const own = (await exchangesByModel(evidence)).get(model) ?? []
  const found = judgeOutputs(pointsOf(longAnswersOf(own), count))
  return found.is === 'unseen' || found.is === 'few' ? null : Math.max(0, found.excess)
}

type Count = (text: string) => number | null

interface LongAnswer {
  readonly exchange: Exchange
  readonly reported: number
  readonly text: string
}

/** Answers that report enough tokens, and are one text. */
const longAnswersOf = (exchanges: readonly Exchange[]): readonly LongAnswer[] =>
  exchanges.flatMap((exchange) => {
    const reported = exchange.row.completionTokens
    if (reported === null || reported < leastReported) return []
    const text = soleAnswerOf(exchange)
    return text === null ? [] : [{ exchange, reported, text }]
  })

const pointsOf = (answers: readonly LongAnswer[], count: Count) =>
  answers.flatMap(({ exchange, reported, text }) => {
    const counted = count(text)
    // The token that ends an answer has no text.
    const ended = exchange.row.finishReason === 'length' ? 0 : 1
    return counted === null ? [] : [{ exchange, reported, counted: counted + ended }]
  })

/** The text of an answer that is one text and nothing else; null for any other. */
function soleAnswerOf(exchange: Exchange): string | null {
  const texts = chatTexts(exchange)
  const body = exchange.row.responseBody ?? ''
  if (texts === undefined || texts.size !== 1) return null
  if (showsMoreThanText(body)) return null
  if ((reasonedUsage(exchange)?.parts.reasoning ?? 0) > 0) return null
  return [...texts.values()][0] ?? null
}
