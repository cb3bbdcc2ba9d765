import type { Model } from '../../../contract/contract.ts'
import { worstOf } from '../../evidence/sold/by-model.ts'
import { countOf } from '../../evidence/sold/encodings.ts'
import { judgeHidden, leastShort, mostShortTokens } from '../../evidence/sold/hidden.ts'
import { median, slackTokens } from '../../evidence/sold/line.ts'
import { measuredIn, measuring } from '../../evidence/sold/measured.ts'
import { overcharge } from '../../evidence/sold/overcharge.ts'
import { tokensOfWords } from '../../evidence/sold/repeats.ts'
import { repeatedWord } from '../../evidence/sold/script-of.ts'
import { isOneWord, type SoleText, soleTexts } from '../../evidence/sold/sole-texts.ts'
import { type Evidence, type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, type Witness } from '../../verdict.ts'

const requires = `${leastShort} answers with usage to prompts of a word or a few, without a system message; without tokenizer in the contract, of one word repeated 500 and 1,500 times (scenarios/audit-integrity.yaml)`

export const sold02: Rule = {
  id: 'SOLD-02',
  title: 'No hidden prompt is counted',
  section: 'contract: models, template_tokens',
  severity: 'must',
  needs: ['passive', 'active'],
  explain: `Takes the middle difference of reported and counted tokens over prompts of at most ${mostShortTokens} tokens in one user message. It is
the chat template, and anything that is put before it. More than template_tokens and ${slackTokens} (texts merge with the template, and
templates vary) fails. Without a named encoding, repeats of a word in two lengths tell how many tokens it has, and prompts of one word pass if at most
template_tokens are beside one token. A factor on all counts lifts it, too: read SOLD-01 first. It cannot detect a hidden prompt that is not counted, or one that is put before long or chosen prompts alone.`,
  ...whenPromised(
    ['models.template_tokens'],
    (evidence) => decide(evidence),
    async (evidence) => measuredIn(await decide(await measuring(evidence, 'templateTokens'))),
  ),
}

async function decide(evidence: Evidence): Promise<Verdict> {
  const byModel = Map.groupBy(await soleTexts(evidence), ({ model }) => model)
  const verdicts = await Promise.all(
    [...byModel].flatMap(([model, texts]) =>
      model.templateTokens === undefined
        ? []
        : [verdictOf(evidence, model, model.templateTokens, texts)],
    ),
  )
  return worstOf(verdicts, requires)
}

interface Point extends SoleText {
  readonly counted: number
}

async function verdictOf(
  evidence: Evidence,
  model: Model,
  promised: number,
  texts: readonly SoleText[],
): Promise<{ readonly model: Model; readonly verdict: Verdict }> {
  const { tokenizer } = model
  const points =
    tokenizer === undefined ? ofRepeats(texts) : shortTexts(texts, await countOf(tokenizer))
  const word = points.length > 0 || tokenizer !== undefined ? [] : texts.filter(isOneWord)
  if (word.length > 0) return { model, verdict: ofOneWord(word, promised) }
  const found = judgeHidden(points, promised)
  if (found.is === 'unseen') return { model, verdict: notObserved(requires) }
  const observations = points.length
  const { beside } = found
  switch (found.is) {
    case 'pass':
      return {
        model,
        verdict: pass(observations, { note: `${beside} tokens beside the text` }),
      }
    case 'few':
      return {
        model,
        verdict: inconclusive(
          observations,
          `only ${observations} short prompts, of ${leastShort}; ${beside} tokens beside the text`,
        ),
      }
    case 'inconclusive':
      return {
        model,
        verdict: inconclusive(
          observations,
          `${beside} tokens beside the text, of ${promised} promised: a template that varies may be that`,
        ),
      }
    case 'fail': {
      const hidden = beside - promised
      const counts = await overcharge(evidence, model, () => hidden)
      const witnesses = points.slice(0, 5).map(
        ({ exchange: { row }, reported, counted }): Witness => ({
          runId: row.runId,
          slot: row.slot,
          retry: row.retry,
          shows: `${reported} tokens reported, ${counted} in the text`,
        }),
      )
      return {
        model,
        verdict: fail(observations, {
          expected: `at most ${promised} tokens beside the text`,
          observed: `Each request is counted ${beside} tokens more than its text; the contract promises at most ${promised}. If all requests are, that is ${counts}.`,
          witnesses: [witnesses[0]!, ...witnesses.slice(1)],
        }),
      }
    }
  }
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

/** The shortest repeats of each word that has a whole number of tokens: no factor is on them. */
function ofRepeats(texts: readonly SoleText[]): readonly Point[] {
  const repeats = texts.flatMap((each) => {
    const repeated = repeatedWord(each.text)
    return repeated === null ? [] : [{ ...each, ...repeated }]
  })
  return [...tokensOfWords(repeats)].map(([word, tokens]) => {
    const [least] = repeats
      .filter((each) => each.word === word)
      .toSorted((a, b) => a.times - b.times)
    return { ...least!, counted: tokens * least!.times }
  })
}

/** A word has one token or more, so that what is beside it is at most the rest: enough for a pass, and for nothing else. */
function ofOneWord(words: readonly SoleText[], promised: number): Verdict {
  const most = median(words.map(({ reported }) => reported - 1))
  const observations = words.length
  if (observations >= leastShort && most <= promised)
    return pass(observations, { note: `at most ${most} tokens beside one word` })
  return inconclusive(
    observations,
    `${most} tokens beside a word of one token; the contract names no tokenizer, and repeats of words would tell how many tokens a word has (scenarios/audit-integrity.yaml)`,
  )
}
