import type { Model, Tokenizer } from '../../../contract/contract.ts'
import { largest, smallest } from '../../../user/extremes.ts'
import { spread } from '../../../user/spread.ts'
import { firstShown } from '../../evidence/exchange.ts'
import { median } from '../../evidence/median.ts'
import { overModels } from '../../evidence/sold/by-model.ts'
import { countOf, shownTokenizer } from '../../evidence/sold/encodings.ts'
import { type CountedPoint, slackTokens } from '../../evidence/sold/line.ts'
import { judgedOrMeasured } from '../../evidence/sold/measured.ts'
import { overcharge } from '../../evidence/sold/overcharge.ts'
import { failingPart, passingPart, saidOfPart } from '../../evidence/sold/parts.ts'
import {
  judgeRepeats,
  type RepeatPoint,
  type RepeatResult,
  type WordSlope,
} from '../../evidence/sold/repeats.ts'
import { repeatsIn, scriptOf } from '../../evidence/sold/script-of.ts'
import {
  commonStep,
  judgeSlopes,
  type ScriptLine,
  type SlopeFault,
} from '../../evidence/sold/slopes.ts'
import { isOneWord, type SoleText, soleTexts } from '../../evidence/sold/sole-texts.ts'
import { textPrice } from '../../evidence/sold/text-price.ts'
import type { Evidence, Rule } from '../../rule.ts'
import {
  fail,
  figuresOf,
  inconclusive,
  type MeasuredFigure,
  notObserved,
  pass,
  type Verdict,
  type VerdictTable,
  withFigures,
} from '../../verdict.ts'

const requires =
  'answers with usage to single texts of several sizes, with tokenizer in the contract; or one word repeated 500 and 1,500 times (scenarios/audit-integrity.yaml)'

/** Requests of a model that the line goes through. */
const mostTexts = 2_000

export const sold01: Rule = {
  id: 'SOLD-01',
  title: 'Input tokens are those of the text',
  section: 'contract: models, tokenizer',
  needs: ['passive', 'active'],
  explain: `Counts the text of each request with one user message by the encoding that the contract names, and fits a line to
what the service reports. If each count may be off by ${slackTokens} tokens (the text merges with the template, and templates vary),
the slope is off by a bound that follows from the sizes; no probability is involved. A slope above 1.005 beyond it fails if texts
of common words, code and Chinese are all counted alike: another encoding has another ratio for each, which is inconclusive. Counts that
are all multiples of one number fail, those of a single word among them by whatever encoding. Streams, plain answers, keys and runs are judged apart: what fails one of them and passes
another is told of that one. Where that settles nothing, and without a named encoding, repeats of one word must have a whole number of tokens each, or share
tokens (a half, a third, a quarter); 1.05 is what no encoding gives, and fails. Two for every word may be an encoding of small pieces: inconclusive. It cannot detect a factor on a script that is not sent, a service that treats
probes honestly, an encoding that is itself wasteful, a small share of the requests, a factor on prompts longer than those that were sent, or at a time when none was sent.`,
  ...judgedOrMeasured('models', decide),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  const byModel = Map.groupBy(await soleTexts(evidence), ({ model }) => model)
  return overModels(byModel, requires, (model, texts) => verdictOfTexts(evidence, model, texts))
}

/** By the named encoding; where that leaves it open, as without one, counts may still be what no encoding gives. */
async function verdictOfTexts(
  evidence: Evidence,
  model: Model,
  texts: readonly SoleText[],
): Promise<Verdict> {
  const byAny = async () =>
    verdictOfSteps(texts) ?? (await verdictOfRepeats(evidence, model, texts))
  if (model.tokenizer === undefined) return byAny()
  const named = await verdictOfSlopes(evidence, model, model.tokenizer, texts)
  if (named.verdict === 'pass' || named.verdict === 'fail') return named
  const any = await byAny()
  return any.verdict === 'fail' ? withFigures(any, [...figuresOf(named), ...figuresOf(any)]) : named
}

/** Counts that are rounded up, whatever encoding they are of; null for others. */
function verdictOfSteps(texts: readonly SoleText[]): Verdict | null {
  const to = commonStep(texts)
  if (to === null) return null
  const shortest = texts.toSorted((a, b) => a.text.length - b.text.length)
  return fail(texts.length, {
    expected: 'counts that follow from the texts',
    observed: `All counts are multiples of ${to}, also of a single word: the service rounds them up, by up to ${to - 1} tokens in each request.`,
    witnesses: firstShown(shortest, ({ reported }) => `${reported} tokens reported`),
  })
}

async function verdictOfSlopes(
  evidence: Evidence,
  model: Model,
  tokenizer: Tokenizer,
  texts: readonly SoleText[],
): Promise<Verdict> {
  const count = await countOf(tokenizer)
  const encoding = shownTokenizer(tokenizer)
  const known = new Map<string, number | null>()
  const countedOf = (text: string) => {
    if (!known.has(text)) known.set(text, count(text))
    return known.get(text)!
  }
  const points = spread(texts, Math.min(mostTexts, texts.length)).flatMap((each) => {
    const counted = countedOf(each.text)
    return counted === null ? [] : [{ ...each, counted, script: scriptOf(each.text, counted) }]
  })
  const { part, found, own } = failingPart(points, judgeSlopes)
  if (found.is === 'unseen' || judgeSlopes(points).is === 'unseen') return notObserved(requires)
  const observations = found.lines.reduce((sum, line) => sum + line.points, 0)
  const tables = [tableOf(model, encoding, found.lines)]
  const figures = await figuresOfLines(evidence, model, encoding, found.lines)
  switch (found.is) {
    case 'pass':
      return pass(observations, { tables, figures, note: passNote(found.lines) })
    case 'inconclusive': {
      const right = passingPart(points, judgeSlopes)
      const why =
        right === null
          ? found.why
          : `${right.said} the counts are those of the named encoding; elsewhere they are not, and in no ratio that tells a factor`
      return withFigures(inconclusive(observations, why), figures)
    }
    case 'fail': {
      const isRounded = found.why.kind === 'rounded'
      const template =
        model.templateTokens ?? (isRounded ? leastBeside(points) : interceptOf(found.lines))
      const over = await overcharge(evidence, model, (reported, text) => {
        const counted = text === null ? null : countedOf(text)
        return counted === null ? null : reported - counted - template - slackTokens
      })
      // Rounded counts of another encoding do not tell how many were added.
      const isKnown =
        !isRounded || found.lines.every(({ slope }) => Math.abs(slope - 1) <= mostRoundedSlope)
      const worst = own.toSorted((a, b) => b.reported - b.counted - (a.reported - a.counted))
      return fail(observations, {
        expected: `one token for each of ${encoding}, beside a template`,
        observed: `${saidOfPart(part, sentenceOf(found.why, encoding, found.lines))}${isKnown ? ` ${over.said}.` : ''}`,
        ...(isKnown ? { fact: `${model.id}: ${over.said}` } : {}),
        witnesses: firstShown(worst, (each) => shownOf(each, each.counted, encoding)),
        tables,
        figures: isKnown ? [...figures, ...over.figures] : figures,
      })
    }
  }
}

function sentenceOf(why: SlopeFault, encoding: string, lines: readonly ScriptLine[]): string {
  const first = lines[0]!
  switch (why.kind) {
    case 'rounded':
      return `All counts are multiples of ${why.to}: the service rounds them up, by up to ${why.to - 1} tokens in each request.`
    case 'share':
      return `${why.strays} of ${why.of} texts of common words are counted more than others with the same words.`
    case 'factor':
      return `The service counts ${first.slope.toFixed(3)} tokens (${range(first)}) for each token of ${encoding}, alike in three scripts; at 4,096 tokens that is ${Math.round(4096 * (first.slope - 1))} more than the text has.`
  }
}

const range = ({ slope, bound }: ScriptLine) =>
  `${(slope - bound).toFixed(3)} to ${(slope + bound).toFixed(3)}`

/** The slope of each script, and what a million tokens of plain text cost by it. */
async function figuresOfLines(
  evidence: Evidence,
  model: Model,
  encoding: string,
  lines: readonly ScriptLine[],
): Promise<readonly MeasuredFigure[]> {
  const between = ({ slope, bound }: ScriptLine) => ({
    ...{ value: slope, low: slope - bound, high: slope + bound },
  })
  return [
    ...lines.map(
      (line) =>
        ({ name: 'input_tokens', of: `${line.script}, ${encoding}`, ...between(line) }) as const,
    ),
    ...(await textPrice(evidence, model, 'text_price', { of: encoding, ...between(lines[0]!) })),
  ]
}

/** Rounding lifts the slope of texts of thousands of tokens by less; another encoding, by more. */
const mostRoundedSlope = 0.02

/** What the service adds to each text at least. */
const leastBeside = (points: readonly CountedPoint[]) =>
  Math.max(0, smallest(points.map(({ reported, counted }) => reported - counted)))

/** What the service adds to each text, rounded up. */
const interceptOf = (lines: readonly ScriptLine[]): number =>
  largest([0, ...lines.map(({ intercept }) => Math.ceil(intercept))])

const passNote = (lines: readonly ScriptLine[]) =>
  `${lines.map((line) => `${line.slope.toFixed(3)} tokens (${range(line)}) for each of ${line.script}`).join(', ')}`

function tableOf(model: Model, encoding: string, lines: readonly ScriptLine[]): VerdictTable {
  return {
    title: `Tokens that ${model.id} counts for each token of ${encoding}`,
    head: ['text', 'requests', 'tokens', 'at least', 'at most', 'beside the text'],
    rows: lines.map(({ script, points, slope, bound, intercept }) => [
      script,
      String(points),
      slope.toFixed(4),
      (slope - bound).toFixed(4),
      (slope + bound).toFixed(4),
      intercept.toFixed(1),
    ]),
  }
}

async function verdictOfRepeats(
  evidence: Evidence,
  model: Model,
  texts: readonly SoleText[],
): Promise<Verdict> {
  const repeats = repeatsIn(texts)
  const short = texts.filter(isOneWord)
  const oneWord = short.length === 0 ? null : median(short.map(({ reported }) => reported))
  const judge = (own: readonly RepeatPoint[]) => judgeRepeats(own, oneWord)
  const { part, found, own } = failingPart(repeats, judge)
  if (found.is === 'unseen') return notObserved(requires)
  const observations = own.length
  const figures = await figuresOfWords(evidence, model, found.slopes)
  if (found.is === 'pass') return pass(observations, { note: wholeNote(found), figures })
  if (found.is === 'inconclusive')
    return withFigures(inconclusive(observations, found.why), figures)
  const tooMany = (reported: number) => Math.floor(reported - reported / found.factor)
  const over = await overcharge(evidence, model, tooMany, 'promptTokens', part)
  return fail(observations, {
    expected: 'a whole number of tokens for each repeat of a word',
    observed: `${saidOfPart(part, `Each repeat of a common word has ${found.factor.toFixed(3)} times a whole number of tokens (${wholeNote(found)}), which no encoding gives.`)} At that factor about ${over.said}.`,
    fact: `${model.id}: about ${over.said}`,
    witnesses: firstShown(own, (each) => shownOf(each, each.times, 'a word')),
    figures: [...figures, ...over.figures],
  })
}

/** The mean over words, which is off by no more than each may be, and what a million words of one token each cost by it. */
async function figuresOfWords(
  evidence: Evidence,
  model: Model,
  slopes: readonly WordSlope[],
): Promise<readonly MeasuredFigure[]> {
  const mean = slopes.reduce((sum, { slope }) => sum + slope, 0) / slopes.length
  const bound = largest([0, ...slopes.map((each) => each.bound)])
  const between = { value: mean, low: mean - bound, high: mean + bound }
  return [
    { name: 'tokens_of_word', ...between },
    ...(await textPrice(evidence, model, 'text_price', { of: 'common words', ...between })),
  ]
}

const wholeNote = (found: Exclude<RepeatResult, { is: 'unseen' }>) =>
  found.slopes.map(({ word, slope }) => `${word} ${slope.toFixed(3)}`).join(', ')

const shownOf = ({ reported }: SoleText, counted: number, of: string): string =>
  `${reported} tokens reported, ${counted} of ${of} in the text`
