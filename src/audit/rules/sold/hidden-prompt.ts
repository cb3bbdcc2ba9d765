import type { Model } from '../../../contract/contract.ts'
import { worstOf } from '../../evidence/sold/by-model.ts'
import { countOf } from '../../evidence/sold/encodings.ts'
import { judgeHidden, leastShort, mostShortTokens } from '../../evidence/sold/hidden.ts'
import { slackTokens } from '../../evidence/sold/line.ts'
import { overcharge } from '../../evidence/sold/overcharge.ts'
import { type SoleText, soleTexts } from '../../evidence/sold/sole-texts.ts'
import { type Evidence, type Rule, whenPromised } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, type Verdict, type Witness } from '../../verdict.ts'

const requires = `${leastShort} answers with usage to prompts of a word or a few, without a system message; without tokenizer in the contract, of one common word (scenarios/audit-integrity.yaml)`

export const sold02: Rule = {
  id: 'SOLD-02',
  title: 'No hidden prompt is counted',
  section: 'contract: models, template_tokens',
  severity: 'must',
  needs: ['passive', 'active'],
  explain: `Takes the middle difference of reported and counted tokens over prompts of at most ${mostShortTokens} tokens in one user message. It is
the chat template, and anything that is put before it. More than template_tokens and ${slackTokens} (texts merge with the template, and
templates vary) fails. Without a named encoding, prompts of one common word have one token. A factor on all counts lifts it, too:
read SOLD-01 first. It cannot detect a hidden prompt that is not counted, or one that is put before long or chosen prompts alone.`,
  ...whenPromised(['models.template_tokens'], async (evidence): Promise<Verdict> => {
    const byModel = Map.groupBy(await soleTexts(evidence), ({ model }) => model)
    const verdicts = await Promise.all(
      [...byModel].flatMap(([model, texts]) =>
        model.templateTokens === undefined
          ? []
          : [verdictOf(evidence, model, model.templateTokens, texts)],
      ),
    )
    return worstOf(verdicts, requires)
  }),
}

/** A common word is one token in every encoding. */
const commonWord = /^[A-Za-z]{1,6}$/

async function verdictOf(
  evidence: Evidence,
  model: Model,
  promised: number,
  texts: readonly SoleText[],
): Promise<{ readonly model: Model; readonly verdict: Verdict }> {
  const encoding = model.tokenizer
  const count =
    encoding === undefined
      ? (text: string) => (commonWord.test(text) ? 1 : null)
      : await countOf(encoding)
  // Nothing that is longer in letters than this is short in tokens, and long texts take time to count.
  const points = texts.flatMap((each) => {
    const counted = each.text.length > mostShortTokens * 20 ? null : count(each.text)
    return counted === null || counted > mostShortTokens ? [] : [{ ...each, counted }]
  })
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
          ...{ runId: row.runId, slot: row.slot, retry: row.retry },
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
