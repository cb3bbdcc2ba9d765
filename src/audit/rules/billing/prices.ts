import type { PricedModel } from '../../../contract/contract.ts'
import type { Promising } from '../../../contract/promises.ts'
import { smallest } from '../../../user/extremes.ts'
import { billingRule, credits, witnessOf } from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { effects } from '../../evidence/billing/history.ts'
import {
  fail,
  inconclusive,
  notesOf,
  notObserved,
  pass,
  untested,
  type Verdict,
} from '../../verdict.ts'
import { misread, misreadVerdict } from './misread.ts'
import { isWrong, type Single, singleCharge } from './singles.ts'
import {
  countRows,
  isAccounted,
  rowsOf,
  type SeenStretch,
  undisturbedStretches,
} from './stretches.ts'

const explain = `A charge is isolated if it is the only one between two idle values of the
balance, as with one request at a time. Its amount must be the price. Under concurrency the price is
proven if every value fits an exact history (BILL-11), and disproven if one wrong price for one
model explains every stretch between idle values. The rule cannot distinguish a single wrong price from a
double charge; that fails too, because one success cost more than its price. Where a value of the balance is off while
the next is right again, and no price explains both, the value is wrong and the price is not judged by it. Stretches in which credits
of the contract's sizes were added, or a package may have expired, are skipped. A model whose charges were seen among others alone makes it
inconclusive; one without a success is named.`

export const bill01 = billingRule({
  id: 'BILL-01',
  title: 'A success on a model of the lowest price costs that price',
  section: '§8.4.1',
  needs: ['active', 'quiescence'],
  explain,
  decideBy: (readings, { contract }) =>
    decidePrices(readings, contract, (model) => model.costCredits === lowestPrice(contract)),
})

export const bill02 = billingRule({
  id: 'BILL-02',
  title: 'A success on a model of a higher price costs that price',
  section: '§8.4.1',
  needs: ['active', 'quiescence'],
  explain,
  decideBy: (readings, { contract }) =>
    decidePrices(readings, contract, (model) => model.costCredits !== lowestPrice(contract)),
})

type Priced = Promising<'models.cost_credits'>

const lowestPrice = ({ models }: Priced): number =>
  smallest(models.map((model) => model.costCredits))

function decidePrices(
  readings: readonly BalanceReading[],
  contract: Priced,
  about: (model: PricedModel) => boolean,
): Verdict {
  const models = contract.models.flatMap((model, at) => (about(model) ? [at] : []))
  const off = misread(readings)
  const undisturbed = undisturbedStretches(readings, contract)
  const stretches = undisturbed.filter(
    // A balance that rose was topped up meanwhile.
    ({ stretch }) => stretch.taken >= 0 && !off.has(stretch),
  )
  const ofOurs = ({ model }: Single) => models.includes(model)
  const ours = stretches.flatMap(singleCharge).filter(ofOurs)
  const wrong = ours.find(isWrong)
  if (wrong !== undefined) {
    const { reading, row, model, took, price } = wrong
    const others = ours.filter(isWrong).length
    return fail(ours.length, {
      expected: `${contract.models[model]?.id} costs ${credits(price)}`,
      observed: `it cost ${took}, in ${others} of ${ours.length} requests seen by themselves`,
      witnesses: [witnessOf(reading, row, `cost ${credits(took)}`)],
    })
  }
  const mispriced = models
    .map((model) => wrongPrice(stretches, model))
    .find((each) => each !== null)
  if (mispriced !== undefined) {
    const { model, off, seen, observations } = mispriced
    const { id, costCredits } = contract.models[model]!
    return fail(observations, {
      expected: `${id} costs ${credits(costCredits)}`,
      observed: `between idle values it cost ${costCredits + off} throughout`,
      witnesses: [witnessOf(seen.reading, seen.stretch.to, `${credits(seen.stretch.excess)} off`)],
    })
  }
  const beside = undisturbed
    .filter(({ stretch }) => off.has(stretch))
    .flatMap(singleCharge)
    .filter((single) => ofOurs(single) && isWrong(single))
  if (beside.length > 0) return misreadVerdict(ours.length + beside.length, beside.length)
  const charged = (reading: BalanceReading, ...of: readonly number[]) =>
    countRows(
      reading.history,
      (row) =>
        reading.history.effect[row] === effects.charge && of.includes(reading.history.model[row]!),
    )
  const proven = readings
    .filter(isAccounted)
    .reduce((sum, reading) => sum + charged(reading, ...models), 0)
  const observations = Math.max(proven, ours.length)
  const ofModel = (model: number) => readings.reduce((sum, each) => sum + charged(each, model), 0)
  const namesOf = (some: readonly number[]) => some.map((model) => contract.models[model]!.id)
  const sent = models.filter((model) => ofModel(model) > 0)
  if (sent.length === 0) {
    return notObserved(`a success on ${namesOf(models).join(', ') || 'a model of another price'}`)
  }
  const isCompared = (model: number) =>
    ours.some((single) => single.model === model) ||
    readings.some((reading) => isAccounted(reading) && charged(reading, model) > 0) ||
    stretches.some((seen) => seen.stretch.excess === 0 && hasCharge(seen, model))
  const open = sent.filter((model) => !isCompared(model))
  if (observations > 0 && open.length === 0)
    return pass(observations, notesOf(untested(namesOf(models), namesOf(sent))))
  const unseen = observations === 0 ? models : open
  return inconclusive(
    unseen.map(ofModel).reduce((sum, each) => sum + each, observations),
    `no charge on ${namesOf(unseen).join(', ')} was seen by itself, and the values are not exact; send some one at a time`,
  )
}

const hasCharge = (seen: SeenStretch, model: number) =>
  rowsOf(seen, 'charge').some((row) => seen.reading.history.model[row] === model)

/** A single other price of a model that would explain every stretch. */
function wrongPrice(stretches: readonly SeenStretch[], model: number) {
  let off: number | null = null
  let worst: SeenStretch | null = null
  let observations = 0
  // Next to a failure each time, the failures may have cost what is off.
  let isAlone = false
  for (const seen of stretches) {
    const { history } = seen.reading
    const count = rowsOf(seen, 'charge').filter((row) => history.model[row] === model).length
    if (count === 0) {
      if (seen.stretch.excess !== 0) return null
      continue
    }
    observations += count
    if (seen.stretch.excess % count !== 0 || (off !== null && off !== seen.stretch.excess / count))
      return null
    off = seen.stretch.excess / count
    worst = seen
    isAlone ||= rowsOf(seen, 'failure').length === 0
  }
  return off === null || off === 0 || worst === null || !isAlone
    ? null
    : { model, off, seen: worst, observations }
}
