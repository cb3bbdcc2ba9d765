import { isEqual, isZero } from '../../money/rational.ts'
import { spread } from '../../user/spread.ts'
import { isByChance, unlikeAmounts } from './by-chance.ts'
import { type Change, summaryFor } from './changes/change.ts'
import { changesFor } from './changes/changes.ts'
import { freeOfCharge } from './changes/whole.ts'
import { wideChanges } from './changes/wide.ts'
import type { Judged } from './judge.ts'
import { type OtherCause, otherCauses } from './other-causes.ts'
import type { KnownCauses } from './price-judge.ts'
import { onlyThese, scopeOf } from './scope.ts'
import { type Kind, simplestOf } from './simplest.ts'
import { isExactly, isWithin } from './tolerance.ts'

/** A single change that gives wrong costs exactly. */
export interface Explanation {
  readonly summary: string
  readonly about: string
  /** Wrong costs that it gives exactly. */
  readonly fits: number
  /** Right costs that it would have changed. */
  readonly spares: number
  /** What the wrong ones have in common that the spared ones have not: `of streams`. */
  readonly scope: string
  /** Numbers that were fitted to the wrong costs: a price, a fee, a moment (`simplest.ts`). */
  readonly numbers: number
  /** Whether it is a share below 1 of a price, or of the whole cost, that the contract has nowhere: what a discount is. */
  readonly isDiscount: boolean
  /** Whether it gives more, or finer, amounts than any change gives by chance: only then it accuses a price. */
  readonly isSure: boolean
}

/** Wrong costs with which changes are looked for. What gives these is compared with the others, and with right ones. */
const mostTried = 300
/** So many right costs, and wrong ones, are compared with a change that may be the cause. */
const mostCompared = 20_000

/**
 * The causes of wrong costs: the simplest single changes that give all of them exactly (`simplest.ts`). A cause that would have changed right
 * costs, too, which no trait tells from the wrong ones, contradicts these: it is named only if there is no other one. If no change
 * gives all, those that give the most.
 */
export function explain(
  judged: readonly Judged[],
  causes: KnownCauses,
): { readonly explanations: readonly Explanation[]; readonly isWhole: boolean } {
  const wrong = spread(
    judged.filter(({ is }) => is === 'wrong'),
    mostCompared,
  )
  if (wrong.length === 0) return { explanations: [], isWhole: false }
  const right = spread(
    judged.filter(({ is }) => is === 'right'),
    mostCompared,
  )
  const some = spread(wrong, mostTried)
  const models = modelsOf([...wrong, ...right], causes)
  const told = (
    {
      summary,
      about,
      numbers: fitted = 0,
      isDiscount = false,
    }: Pick<Explanation, 'summary' | 'about'> & Partial<OtherCause>,
    fits: readonly Judged[],
    spared: readonly Judged[],
  ): Explanation => {
    const { words, numbers } = scopeOf(fits, spared)
    const counts = { fits: fits.length, spares: spared.length }
    // Places that show few decimals are what a rounding makes.
    const isSure = about === 'round' || !isByChance(fits)
    return {
      ...{ summary, about, ...counts, scope: words },
      ...{ numbers: fitted + numbers, isDiscount, isSure },
    }
  }
  const byChange = (change: Change, fits: readonly Judged[]) =>
    told(
      {
        summary: summaryFor(
          change,
          fits.map(({ request }) => request),
        ),
        about: change.about,
      },
      fits,
      right.filter((each) => isGivenBy(change, each) === false),
    )
  const isFit = (change: Change) => (each: Judged) => isGivenBy(change, each) === true
  const ofAll = (changes: readonly Change[]) =>
    changes
      .filter((change) => some.every(isFit(change)) && wrong.every(isFit(change)))
      .map((change) => byChange(change, wrong))
  const likely = changesFor(models, causes)
  const ofLikely = ofAll(likely)
  const fitted = otherCauses.map(
    (find) => () => find(wrong, right, causes).map((each) => told(each, wrong, each.spared)),
  )
  // One amount says nothing of the kind of a number that was fitted to it.
  const isOneAmount = unlikeAmounts(wrong).length === 1
  const kinds: readonly Kind<Explanation>[] = [
    { numbers: 0, find: () => ofLikely },
    { numbers: 0, find: () => ofAll(wideChanges(models, causes)) },
    ...(isOneAmount ? [() => fitted.flatMap((find) => find())] : fitted).map((find) => ({
      ...{ numbers: 1, find },
    })),
  ]
  const whole = simplestOf(kinds, (each) => ({
    isContradicted: isContradicted(each),
    numbers: each.numbers,
    spares: isOneAmount && each.numbers > 0 ? 0 : each.spares,
  }))
  // What costs nothing was free, whatever else would have spared more: a rounding that a smallest charge hides.
  const free = wrong.every(({ statement }) => isZero(statement.value))
    ? ofLikely.filter(({ summary }) => summary === freeOfCharge)
    : []
  if (whole.length > 0) return { explanations: plainest([...whole, ...free]), isWhole: true }
  const someRight = spread(right, mostTried)
  const partly = likely
    .map((change) => ({ change, gives: some.filter(isFit(change)).length }))
    // A rounding of a few of them is one by chance: it strikes all requests alike.
    .filter(({ change, gives }) =>
      change.about === 'round' ? 2 * gives >= some.length : gives > 0,
    )
    .map((each) => ({
      ...each,
      spares: someRight.filter((one) => isGivenBy(each.change, one) === false).length,
    }))
    .toSorted((a, b) => b.gives - a.gives || a.spares - b.spares)
  const tell = ({ change }: (typeof partly)[number]) => {
    const fits = wrong.filter(isFit(change))
    return { fits, explanation: byChange(change, fits) }
  }
  return { explanations: coverOf(partly, tell), isWhole: false }
}

const isContradicted = ({ scope }: Explanation) => scope === onlyThese

/** A finding that names more names none. */
const mostNamed = 2

/** The first of these, each once. Of roundings that give the same, one is enough. */
function plainest(found: readonly Explanation[]): readonly Explanation[] {
  const unique = found.filter(
    ({ summary, about }, at) =>
      found.findIndex((each) => each.summary === summary) === at &&
      (about !== 'round' || found.findIndex((each) => each.about === 'round') === at),
  )
  const named = unique.toSorted((a, b) => a.spares - b.spares).slice(0, mostNamed)
  // A cause that is not named leaves it open which price is wrong, too.
  const isOpen = unique.some(({ about }) => named.every((each) => each.about !== about))
  return isOpen ? named.map((each) => ({ ...each, about: 'several' })) : named
}

/**
 * What is told of the first change, and of the next one that gives others. One that gives so few and so coarse amounts as any change does is
 * not told. Where right costs contradict a change, one amount that it gives is one by chance, too. If another change gives the
 * same, it is open which price is wrong.
 *
 * @param found changes that give some of the wrong costs, those that give the most first
 */
function coverOf<Found>(
  found: readonly Found[],
  tell: (each: Found) => { readonly fits: readonly Judged[]; readonly explanation: Explanation },
): readonly Explanation[] {
  const named: { readonly fits: ReadonlySet<Judged>; explanation: Explanation }[] = []
  for (const each of found) {
    const { fits, explanation } = tell(each)
    if (!explanation.isSure || (isContradicted(explanation) && !areSeveral(fits))) continue
    const isSame = ({ fits: of }: (typeof named)[number]) =>
      of.size === fits.length && fits.every((one) => of.has(one))
    const rival = named.find(isSame)
    if (rival !== undefined && rival.explanation.about !== explanation.about)
      rival.explanation = { ...rival.explanation, about: 'several' }
    const isGiven = (one: Judged) => named.some(({ fits: of }) => of.has(one))
    if (named.length < mostNamed && !fits.every(isGiven))
      named.push({ fits: new Set(fits), explanation })
  }
  return named.map(({ explanation }) => explanation)
}

/** Whether these are more than one amount, of more than one right cost. */
const areSeveral = (fits: readonly Judged[]) =>
  fits.some(
    ({ statement, nearest }) =>
      !isEqual(statement.value, fits[0]!.statement.value) &&
      (nearest === null || fits[0]!.nearest === null || !isEqual(nearest, fits[0]!.nearest)),
  )

/** Those of the requests first: a service may take the price of a model that nobody asked for. */
const modelsOf = (judged: readonly Judged[], { models = [] }: KnownCauses) => [
  ...new Map(
    [
      ...judged.flatMap(({ expected }) => expected.readings.map(({ model }) => model)),
      ...models,
    ].map((model) => [model.id, model] as const),
  ).values(),
]

/** Whether a change gives an amount exactly; null if it leaves the cost as it is, or does not apply. */
function isGivenBy(change: Change, { request, statement, expected, unit }: Judged): boolean | null {
  let applies = false
  for (const { model, context, usage } of expected.readings) {
    const cost = change.costOf(request, model, usage, context)
    if (cost === null || expected.costs.some((right) => isWithin(right, cost, unit, model)))
      continue
    applies = true
    // Nothing is not a small share of something.
    if (isZero(statement.value) && !isZero(cost)) continue
    if (isExactly(statement.value, cost, unit)) return true
  }
  return applies ? false : null
}
