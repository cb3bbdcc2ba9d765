import type { Model, Tokenizer } from '../../../contract/contract.ts'
import { largest } from '../../../user/extremes.ts'
import { overModels } from '../../evidence/sold/by-model.ts'
import { countOf, shownTokenizer } from '../../evidence/sold/encodings.ts'
import { median, slackTokens } from '../../evidence/sold/line.ts'
import { judgedOrMeasured } from '../../evidence/sold/measured.ts'
import { overcharge } from '../../evidence/sold/overcharge.ts'
import { judgeRepeats, type RepeatResult } from '../../evidence/sold/repeats.ts'
import { repeatedWord, scriptOf } from '../../evidence/sold/script-of.ts'
import { judgeSlopes, type ScriptLine, type SlopeFault } from '../../evidence/sold/slopes.ts'
import { isOneWord, type SoleText, soleTexts } from '../../evidence/sold/sole-texts.ts'
import type { Evidence, Rule } from '../../rule.ts'
import {
  fail,
  inconclusive,
  notObserved,
  pass,
  type Verdict,
  type VerdictTable,
  type Witness,
} from '../../verdict.ts'

const requires =
  'answers with usage to single texts of several sizes, with tokenizer in the contract; or one word repeated 500 and 1,500 times (scenarios/audit-integrity.yaml)'

/** Requests of a model that the line goes through. */
const mostTexts = 2_000

export const sold01: Rule = {
  id: 'SOLD-01',
  title: 'Input tokens are those of the text',
  section: 'contract: models, tokenizer',
  severity: 'must',
  needs: ['passive', 'active'],
  explain: `Counts the text of each request with one user message by the encoding that the contract names, and fits a line to
what the service reports. If each count may be off by ${slackTokens} tokens (the text merges with the template, and templates vary),
the slope is off by a bound that follows from the sizes; no probability is involved. A slope above 1.005 beyond it fails if texts
of common words, code and Chinese are all counted alike: another encoding has another ratio for each, which is inconclusive. Counts that
are all multiples of one number fail. Where that settles nothing, and without a named encoding, repeats of one word must have a whole number of tokens each, or share
tokens (a half, a third, a quarter); 1.05 is what no encoding gives, and fails. Two for every word may be an encoding of small pieces: inconclusive. It cannot detect a factor on a script that is not sent, a service that treats
probes honestly, an encoding that is itself wasteful, or a small share of the requests.`,
  ...judgedOrMeasured('models', decide),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  const byModel = Map.groupBy(await soleTexts(evidence), ({ model }) => model)
  return overModels(byModel, requires, (model, texts) => verdictOfTexts(evidence, model, texts))
}

/** By the named encoding; where that leaves it open, as without one, repeats of words may still have what no encoding gives. */
async function verdictOfTexts(
  evidence: Evidence,
  model: Model,
  texts: readonly SoleText[],
): Promise<Verdict> {
  const byRepeats = () => verdictOfRepeats(evidence, model, texts)
  if (model.tokenizer === undefined) return byRepeats()
  const named = await verdictOfSlopes(evidence, model, model.tokenizer, texts)
  if (named.verdict === 'pass' || named.verdict === 'fail') return named
  const repeats = await byRepeats()
  return repeats.verdict === 'fail' ? repeats : named
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
  const points = texts.slice(0, mostTexts).flatMap((each) => {
    const counted = countedOf(each.text)
    return counted === null ? [] : [{ ...each, counted, script: scriptOf(each.text, counted) }]
  })
  const found = judgeSlopes(points)
  if (found.is === 'unseen') return notObserved(requires)
  const observations = found.lines.reduce((sum, line) => sum + line.points, 0)
  const tables = [tableOf(model, encoding, found.lines)]
  switch (found.is) {
    case 'pass':
      return pass(observations, { tables, note: passNote(found.lines) })
    case 'inconclusive':
      return inconclusive(observations, found.why)
    case 'fail': {
      const template = model.templateTokens ?? interceptOf(found.lines)
      const counts = await overcharge(evidence, model, (reported, text) => {
        const counted = text === null ? null : countedOf(text)
        return counted === null ? null : reported - counted - template - slackTokens
      })
      const worst = points.toSorted((a, b) => b.reported - b.counted - (a.reported - a.counted))
      const witnesses = worst.slice(0, 5).map((each) => witnessOf(each, each.counted, encoding))
      return fail(observations, {
        expected: `one token for each of ${encoding}, beside a template`,
        observed: `${sentenceOf(found.why, encoding, found.lines)} ${counts}.`,
        fact: `${model.id}: ${counts}`,
        witnesses: [witnesses[0]!, ...witnesses.slice(1)],
        tables,
      })
    }
  }
}

function sentenceOf(why: SlopeFault, encoding: string, lines: readonly ScriptLine[]): string {
  const first = lines[0]!
  switch (why.kind) {
    case 'rounded':
      return `All counts are multiples of ${why.to}: the service rounds them up.`
    case 'share':
      return `${why.strays} of ${why.of} texts of common words are counted more than others with the same words.`
    case 'factor':
      return `The service counts ${first.slope.toFixed(3)} tokens (${range(first)}) for each token of ${encoding}, alike in three scripts; at 4,096 tokens that is ${Math.round(4096 * (first.slope - 1))} more than the text has.`
  }
}

const range = ({ slope, bound }: ScriptLine) =>
  `${(slope - bound).toFixed(3)} to ${(slope + bound).toFixed(3)}`

/** What the service adds to each text, rounded up. */
function interceptOf(lines: readonly ScriptLine[]): number {
  return largest(
    lines.map(({ intercept }) => Math.ceil(intercept)),
    0,
  )
}

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
  const repeats = texts.flatMap((each) => {
    const repeated = repeatedWord(each.text)
    return repeated === null ? [] : [{ ...each, ...repeated }]
  })
  const short = texts.filter(isOneWord)
  const found = judgeRepeats(
    repeats,
    short.length === 0 ? null : median(short.map(({ reported }) => reported)),
  )
  if (found.is === 'unseen') return notObserved(requires)
  const observations = repeats.length
  if (found.is === 'pass') return pass(observations, { note: wholeNote(found) })
  if (found.is === 'inconclusive') return inconclusive(observations, found.why)
  const counts = await overcharge(evidence, model, (reported) =>
    Math.floor(reported - reported / found.factor),
  )
  const [first, ...others] = repeats
    .slice(0, 5)
    .map((each) => witnessOf(each, each.times, 'a word'))
  return fail(observations, {
    expected: 'a whole number of tokens for each repeat of a word',
    observed: `Each repeat of a common word has ${found.factor.toFixed(3)} times a whole number of tokens (${wholeNote(found)}), which no encoding gives. At that factor about ${counts}.`,
    fact: `${model.id}: about ${counts}`,
    witnesses: [first!, ...others],
  })
}

const wholeNote = (found: Exclude<RepeatResult, { is: 'unseen' }>) =>
  found.slopes.map(({ word, slope }) => `${word} ${slope.toFixed(3)}`).join(', ')

function witnessOf(
  { exchange: { row }, reported }: SoleText,
  counted: number,
  of: string,
): Witness {
  const { runId, slot, retry } = row
  return {
    runId,
    slot,
    retry,
    shows: `${reported} tokens reported, ${counted} of ${of} in the text`,
  }
}
