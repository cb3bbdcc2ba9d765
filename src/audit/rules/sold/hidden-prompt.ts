import type { Model } from '../../../contract/contract.ts'
import { firstShown } from '../../evidence/exchange.ts'
import { median } from '../../evidence/median.ts'
import { type AtReference, referencesIn } from '../../evidence/sold/at-reference.ts'
import { overModels } from '../../evidence/sold/by-model.ts'
import { countOf } from '../../evidence/sold/encodings.ts'
import {
  type BeyondResult,
  judgeBeyond,
  judgeHidden,
  leastShort,
  mostShortTokens,
  type ShortPrompt,
} from '../../evidence/sold/hidden.ts'
import { slackTokens } from '../../evidence/sold/line.ts'
import { judgedOrMeasured } from '../../evidence/sold/measured.ts'
import { overcharge } from '../../evidence/sold/overcharge.ts'
import { failingPart, type Part, saidOfPart } from '../../evidence/sold/parts.ts'
import { tokensOfWords } from '../../evidence/sold/repeats.ts'
import { repeatsIn } from '../../evidence/sold/script-of.ts'
import { isOneWord, type SoleText, soleTexts } from '../../evidence/sold/sole-texts.ts'
import { type Evidence, hasPromises, type Rule } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, withFigures } from '../../verdict.ts'

const referenceRequires =
  'short prompts at the reference of the contract, in the same store (scenarios/integrity-session.yaml with each --base-url)'
const requires = `${leastShort} answers with usage to prompts of a word or a few, without a system message; without tokenizer in the contract, of one word repeated 500 and 1,500 times (scenarios/audit-integrity.yaml)`

const byTemplate = judgedOrMeasured('models.template_tokens', decide, 'templateTokens')

export const sold02: Rule = {
  id: 'SOLD-02',
  title: 'No hidden prompt is counted',
  section: 'contract: models, template_tokens, reference',
  needs: ['passive', 'active'],
  explain: `Takes the middle difference of reported and counted tokens over prompts of at most ${mostShortTokens} tokens in one
user message. It is the chat template, and anything that is put before it. More than template_tokens and ${slackTokens} (texts
merge with the template, and templates vary) fails, by prompts of a word or two, or by twice the tokens of longer
ones, since another encoding may have those. A single prompt that is counted more than that is no pass. Without a
named encoding, repeats of a word in two lengths tell how many tokens it has, and prompts of one word pass if at
most template_tokens are beside one token. Where the contract names a reference, and its runs are in the store, the
same prompts there tell without any tokenizer: more than ${2 * slackTokens} tokens above the reference's count fail, too, and
without template_tokens at most ${slackTokens} pass. A factor on all counts lifts it, too: read SOLD-01 first. Streams, plain
answers, keys and runs are judged apart, but for prompts of one word. It cannot detect a hidden prompt that is not
counted, one that is put before long or chosen prompts alone, or tokens that are added to later messages of a
conversation.`,
  promised: byTemplate.promised,
  decide: (evidence) =>
    hasPromises(evidence, ['models.reference']) ? decide(evidence) : byTemplate.decide(evidence),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  const references = await referencesIn(evidence)
  const byModel = Map.groupBy(await soleTexts(evidence), ({ model }) => model)
  return overModels(byModel, requires, (model, texts) =>
    model.templateTokens === undefined && model.reference === undefined
      ? []
      : verdictOf(evidence, model, texts, references.get(model)),
  )
}

interface Point extends SoleText {
  readonly counted: number
}

async function verdictOf(
  evidence: Evidence,
  model: Model,
  texts: readonly SoleText[],
  reference: AtReference | undefined,
): Promise<Verdict> {
  const points = await pointsOf(model, texts)
  const referenceTexts = reference === undefined ? [] : await soleTexts(reference.evidence)
  const referencePrompts = promptsOf(referenceTexts, await pointsOf(model, referenceTexts))
  const besideReference = failingPart(promptsOf(texts, points), (own) =>
    judgeBeyond(own, referencePrompts),
  )
  const { found: beyond } = besideReference
  const verdict =
    model.templateTokens === undefined
      ? null
      : await ofTemplate(evidence, model, model.templateTokens, texts, points, beyond)
  const isObserved = verdict !== null && verdict.verdict !== 'not-observed'
  // Without requests beside the reference, only the template can be judged.
  if (beyond.is === 'unseen') return verdict ?? notObserved(referenceRequires)
  // What the contract promises of the template decides, unless only the reference tells that something is added.
  if (isObserved && (verdict.verdict === 'fail' || beyond.is !== 'fail')) return verdict
  return ofReference(evidence, model, besideReference.own, beyond, besideReference.part)
}

/** What is beside the template that the contract promises. */
async function ofTemplate(
  evidence: Evidence,
  model: Model,
  promised: number,
  texts: readonly SoleText[],
  points: readonly Point[],
  beyond: BeyondResult,
): Promise<Verdict> {
  // A prompt of one word has one token at least, so it can be judged without counting its text.
  const isCounted = points.length > 0 || model.tokenizer !== undefined
  const word = isCounted ? [] : texts.filter(isOneWord)
  if (word.length > 0) return ofOneWord(word, promised)
  const judge = (own: readonly Point[]) => judgeHidden(own, promised)
  const { part, found, own } = failingPart(points, judge)
  if (found.is === 'unseen') return notObserved(requires)
  const observations = own.length
  const { beside } = found
  const figures = [
    { name: 'beside_text', value: beside, low: beside - slackTokens, high: beside + slackTokens },
  ] as const
  const open = (why: string) => withFigures(inconclusive(observations, why), figures)
  const said = `${beside} tokens beside the text`
  switch (found.is) {
    case 'pass':
      return pass(observations, { note: `${said}${beyondSaid(beyond)}`, figures })
    case 'few':
      return open(`only ${observations} short prompts, of ${leastShort}; ${said}`)
    case 'inconclusive': {
      const why =
        found.strays === undefined
          ? ': a template that varies may be that, another encoding, or a factor on all counts (SOLD-01)'
          : strayText(found.strays, observations)
      return open(`${said}, of ${promised} promised${why}${beyondSaid(beyond)}`)
    }
    case 'fail': {
      const excess = beside - promised
      const over = await overcharge(evidence, model, () => excess, 'promptTokens', part)
      const each = `Each request is counted ${beside} tokens more than its text; the contract promises at most ${promised}${beyondSaid(beyond)}.`
      return fail(observations, {
        expected: `at most ${promised} tokens beside the text`,
        observed: `${saidOfPart(part, each)} If all ${part === undefined ? 'requests' : 'of them'} are, that is ${over.said}.`,
        witnesses: firstShown(
          own,
          ({ reported, counted }) => `${reported} tokens reported, ${counted} in the text`,
        ),
        figures: [...figures, ...over.figures],
      })
    }
  }
}

const strayText = (strays: number, of: number) =>
  `; but ${strays} of ${of} prompts have more, as if a prompt were put before a part of the requests`

const beyondSaid = (beyond: BeyondResult) =>
  beyond.is === 'unseen' || beyond.is === 'few' ? '' : `; ${shownBeyond(beyond.beside)}`
const shownBeyond = (tokens: number) =>
  tokens === 0
    ? 'as many as at the reference'
    : `${Math.abs(tokens)} ${tokens > 0 ? 'more' : 'fewer'} than at the reference`

/** What is beside the prompts of the reference. */
async function ofReference(
  evidence: Evidence,
  model: Model,
  prompts: readonly SentPrompt[],
  beyond: Exclude<BeyondResult, { is: 'unseen' }>,
  part: Part | undefined,
): Promise<Verdict> {
  const observations = beyond.compared
  const said = `for a short prompt, ${shownBeyond(beyond.beside)}`
  switch (beyond.is) {
    case 'pass':
      return pass(observations, { note: said })
    case 'few':
      return inconclusive(observations, `${said}; ${leastShort} prompts at both decide`)
    case 'inconclusive':
      return inconclusive(
        observations,
        beyond.strays === undefined
          ? `${said}: a template that varies may be that, or a factor on all counts (SOLD-01)`
          : `${said}${strayText(beyond.strays, observations)}`,
      )
    case 'fail': {
      const over = await overcharge(evidence, model, () => beyond.beside, 'promptTokens', part)
      const shortest = prompts.toSorted((a, b) => a.text.length - b.text.length)
      return fail(observations, {
        expected: 'as many tokens as at the reference',
        observed: `${saidOfPart(part, `Each request is counted ${beyond.beside} tokens more than at the reference.`)} If all ${part === undefined ? 'requests' : 'of them'} are, that is ${over.said}.`,
        witnesses: firstShown(shortest, ({ reported }) => `${reported} tokens reported`),
        figures: over.figures,
      })
    }
  }
}

/** Prompts whose own tokens are known: short ones by the encoding, and repeats of a word. */
async function pointsOf(
  { tokenizer }: Model,
  texts: readonly SoleText[],
): Promise<readonly Point[]> {
  return tokenizer === undefined ? ofRepeats(texts) : shortTexts(texts, await countOf(tokenizer))
}

interface SentPrompt extends ShortPrompt, Pick<SoleText, 'exchange'> {}

function promptsOf(texts: readonly SoleText[], points: readonly Point[]): readonly SentPrompt[] {
  const counted = new Map(points.map((point) => [point.exchange, point.counted]))
  return texts.map(({ text, reported, exchange }) => ({
    text,
    reported,
    exchange,
    counted: counted.get(exchange) ?? null,
  }))
}

/** Prompts of a few tokens: a factor on them is within the slack. */
function shortTexts(
  texts: readonly SoleText[],
  count: (text: string) => number | null,
): readonly Point[] {
  // Nothing that is longer in letters than this is short in tokens, and long texts take time to count.
  return texts.flatMap((each) => {
    const counted = each.text.length > mostShortTokens * 20 ? null : count(each.text)
    return counted === null || counted > mostShortTokens ? [] : [{ ...each, counted }]
  })
}

/** The shortest repeats of each word that has a whole number of tokens: a whole slope means that counts are not multiplied. */
function ofRepeats(texts: readonly SoleText[]): readonly Point[] {
  const repeats = repeatsIn(texts)
  return [...tokensOfWords(repeats)].map(([word, tokens]) => {
    const [least] = repeats
      .filter((each) => each.word === word)
      .toSorted((a, b) => a.times - b.times)
    return { ...least!, counted: tokens * least!.times }
  })
}

/** A word has one token or more, so that what is beside it is at most the rest: enough for a pass of all words, and for nothing else. */
function ofOneWord(words: readonly SoleText[], promised: number): Verdict {
  const most = median(words.map(({ reported }) => reported - 1))
  const observations = words.length
  const strays = words.filter(({ reported }) => reported - 1 - slackTokens > promised).length
  if (most <= promised && strays > 0)
    return inconclusive(
      observations,
      `at most ${most} tokens beside the middle word${strayText(strays, observations)}`,
    )
  if (observations >= leastShort && most <= promised)
    return pass(observations, { note: `at most ${most} tokens beside one word` })
  if (most <= promised)
    return inconclusive(
      observations,
      `at most ${most} tokens beside one word; ${leastShort} such prompts decide`,
    )
  return inconclusive(
    observations,
    `${most} tokens beside a word of one token; the contract names no tokenizer, and repeats of words would tell how many tokens a word has (scenarios/audit-integrity.yaml)`,
  )
}
