import { type Model, modelNamed } from '../../../contract/contract.ts'
import type { Evidence } from '../../rule.ts'
import {
  figuresOf,
  notObserved,
  pass,
  type Verdict,
  withFigures,
  worstFirst,
} from '../../verdict.ts'
import { type Exchange, exchangesOf } from '../exchange.ts'

type Verdicts = Verdict | readonly Verdict[]

/** What belongs to each model; `undefined`: to models that the contract does not have. */
type ByModel<Each> = ReadonlyMap<Model | undefined, readonly Each[]>

/**
 * The worst verdict over models, with the names of the others that are as bad. `judge` gives one for each promise of a model, none if
 * it is not judged.
 */
export async function overModels<Each>(
  byModel: ByModel<Each>,
  requires: string,
  judge: (model: Model, own: readonly Each[]) => Verdicts | Promise<Verdicts>,
): Promise<Verdict> {
  const verdicts = await Promise.all(
    [...byModel].map(async ([model, own]) =>
      model === undefined
        ? []
        : [await judge(model, own)].flat().map((verdict) => ({ model, verdict })),
    ),
  )
  const all = verdicts.flat()
  // Also what models measured that are not the worst.
  const figures = all.flatMap(({ model, verdict }) =>
    figuresOf(verdict).map((each) => ({ ...each, model: model.id })),
  )
  return withFigures(worstOf(all, requires), figures)
}

export async function exchangesByModel(evidence: Evidence): Promise<ByModel<Exchange>> {
  const { models = [] } = evidence.contract
  return Map.groupBy(await exchangesOf(evidence), ({ row }) => modelNamed(models, row.model ?? ''))
}

function worstOf(
  verdicts: readonly { readonly model: Model; readonly verdict: Verdict }[],
  requires: string,
): Verdict {
  const sorted = verdicts.toSorted(
    (a, b) => worstFirst.indexOf(a.verdict.verdict) - worstFirst.indexOf(b.verdict.verdict),
  )
  const [worst] = sorted
  if (worst === undefined) return notObserved(requires)
  const alike = sorted.filter(({ verdict }) => verdict.verdict === worst.verdict.verdict)
  const { verdict } = worst
  const observations = alike.reduce(
    (sum, each) => sum + ('observations' in each.verdict ? each.verdict.observations : 0),
    0,
  )
  const others = new Set(alike.map(({ model }) => model.id))
  others.delete(worst.model.id)
  const told = (text: string) => {
    const also =
      others.size === 0 ? '' : `${text.endsWith('.') ? '' : '.'} So are ${[...others].join(', ')}.`
    return `${worst.model.id}: ${text}${also}`
  }
  switch (verdict.verdict) {
    case 'pass': {
      const notes = alike.flatMap((each) =>
        'note' in each.verdict && each.verdict.note !== undefined
          ? [`${each.model.id}: ${each.verdict.note}`]
          : [],
      )
      const unseen = sorted.flatMap((each) =>
        each.verdict.verdict === 'not-observed'
          ? [`${each.model.id} not observed: ${each.verdict.requires}`]
          : [],
      )
      const said = [...notes, ...unseen]
      return pass(observations, said.length === 0 ? {} : { note: said.join('; ') })
    }
    case 'fail':
      return { ...verdict, observations, observed: told(verdict.observed) }
    case 'inconclusive':
      return { ...verdict, observations, why: told(verdict.why) }
    default:
      return verdict
  }
}
