import { billingRule, credits, witnessOf } from '../../evidence/balances.ts'
import { readBalance } from '../../evidence/billing/balance-reading.ts'
import { excessOf } from '../../evidence/billing/conservation.ts'
import { effects, filterHistory } from '../../evidence/billing/history.ts'
import { exchangesOf } from '../../evidence/exchange.ts'
import type { Evidence } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, passed, type Verdict } from '../../verdict.ts'
import { clearStretches, type Stretch } from './segments.ts'

export const bill16 = billingRule({
  id: 'BILL-16',
  title: 'A balance belongs to the account: its keys share it',
  section: '§2.8, §8.1',
  severity: 'must',
  needs: ['active', 'quiescence'],
  explain: `Two keys that the scenario assigns to one account: their values together must fit one history.
It fails if they do not fit across the keys, while most values of each key alone do.`,
  decideBy(readings): Verdict {
    let observations = 0
    for (const reading of readings) {
      const { history } = reading
      const keys = [...new Set(history.key.filter((_, row) => !Number.isNaN(history.value[row]!)))]
      if (keys.length < 2) continue
      if (reading.fits === 'exact' || reading.fits === 'loose') {
        observations += reading.observations
        continue
      }
      // Separate balances: idle values fit within each key, but not from one key to another.
      const wrong = reading.conservation.segments.filter(
        (segment) =>
          history.key[segment.from] !== history.key[segment.to] && excessOf(segment) !== 0,
      )
      const alone = keys.flatMap((key) => {
        const own = filterHistory(history, (row) => history.key[row] === key)
        return readBalance(own).conservation.segments
      })
      const wrongAlone = alone.filter((segment) => excessOf(segment) !== 0)
      if (wrong.length < 2 || wrongAlone.length * 2 > alone.length) continue
      const rowOf = (key: number) =>
        history.key.findIndex((each, row) => each === key && !Number.isNaN(history.value[row]!))
      return fail(reading.observations, {
        expected: `one balance for the keys of account ${history.account}`,
        observed: `${keys.length} balances, one for each key`,
        witnesses: [
          witnessOf(reading, rowOf(keys[0]!), `shows ${history.value[rowOf(keys[0]!)]}`),
          witnessOf(
            reading,
            rowOf(keys[1]!),
            `shows ${history.value[rowOf(keys[1]!)]} with another key`,
          ),
        ],
      })
    }
    return passed(observations, 'two keys of one account (keys: … account: …)')
  },
})

export const bill17 = billingRule({
  id: 'BILL-17',
  title: 'A retried request is charged once, and its failed attempts are free',
  section: '§7.5, §8.4',
  severity: 'must',
  needs: ['passive', 'quiescence'],
  explain: `Looks at stretches between idle values that contain retries: the balance must fall by the cost of the
successes. Each attempt is a row of its own, so nothing is hidden in a retry. If stretches without retries cost
too much as well, retries are not accused. A request that is
sent again under the same Idempotency-Key may be free or cost its price once more (gap G-37), and never
more than that.`,
  async decideBy(readings, evidence): Promise<Verdict> {
    const replayed = await keyedTwice(evidence)
    // A charge after its header is in the stretch that begins with its request.
    const singles = readings
      .filter(({ fits }) => fits !== 'late')
      .flatMap((reading) =>
        reading.conservation.segments.map((segment) => ({
          reading,
          segment,
          excess: excessOf(segment),
        })),
      )
      .filter(({ reading: { history }, segment }) =>
        history.slot
          .subarray(segment.from, segment.to + 1)
          .some((slot) => replayed.has(`${history.runId}/${slot}`)),
      )
    const stretches = clearStretches(readings)
    const other = stretches.find(
      (stretch) =>
        stretch.excess > 0 &&
        onlySucceeded(stretch) &&
        !singles.some(({ segment }) => segment === stretch.segment),
    )
    const dear = singles.find(({ excess }) => excess > 0)
    if (dear !== undefined) {
      if (other !== undefined) return costlyWithout(other, singles.length)
      return fail(singles.length, {
        expected: 'at most the price for a request that was sent before under its Idempotency-Key',
        observed: `${credits(dear.excess)} more`,
        witnesses: [witnessOf(dear.reading, dear.segment.to, `${credits(dear.excess)} too low`)],
      })
    }
    const isRetried = ({ reading: { history }, segment }: Stretch) =>
      history.retry.subarray(segment.from + 1, segment.to + 1).some((retry) => retry > 0)
    const retried = stretches.filter(isRetried)
    if (retried.length === 0 && singles.length > 0) {
      return pass(singles.length)
    }
    if (retried.length === 0) {
      return notObserved('a retry after a 429 between two idle values (retries: specification)')
    }
    const wrong = retried.find(({ excess }) => excess > 0)
    if (wrong === undefined) return pass(retried.length)
    const { reading, segment, excess } = wrong
    if (other !== undefined) return costlyWithout(other, retried.length)
    const row = reading.history.retry.findIndex((retry, at) => at > segment.from && retry > 0)
    return fail(retried.length, {
      expected: `${credits(segment.sure)} for ${segment.charges} successes and their failed attempts`,
      observed: `${credits(segment.sure + excess)}`,
      witnesses: [witnessOf(reading, row, 'an attempt that was tried again')],
    })
  },
})

const costlyWithout = (other: Stretch, observations: number): Verdict =>
  inconclusive(
    observations,
    'stretches without a retry cost too much as well, so retries need not be the cause',
    [witnessOf(other.reading, other.segment.to, `${credits(other.excess)} too low, no retry`)],
  )

function onlySucceeded({ reading: { history }, segment }: Stretch): boolean {
  const [from, to] = [segment.from + 1, segment.to + 1]
  return (
    // A failure may show the balance before a charge of its own.
    history.effect[segment.from] !== effects.failure &&
    history.retry.subarray(from, to).every((retry) => retry === 0) &&
    history.effect
      .subarray(from, to)
      .every((effect) => effect === effects.charge || effect === effects.read)
  )
}

/** Requests that repeat an earlier Idempotency-Key. */
async function keyedTwice(evidence: Evidence): Promise<ReadonlySet<string>> {
  const seen = new Set<string>()
  const again = new Set<string>()
  for (const { row } of await exchangesOf(evidence)) {
    const key = /"idempotency-key":"([^"]*)"/i.exec(row.requestHeaders ?? '')?.[1]
    if (key === undefined) continue
    const place = `${row.runId}/${key}`
    if (seen.has(place)) again.add(`${row.runId}/${row.slot}`)
    seen.add(place)
  }
  return again
}

export const bill20 = billingRule({
  id: 'BILL-20',
  title:
    'The listed price per credit is the package price divided by its credits, rounded consistently',
  section: '§1.6',
  severity: 'advice',
  needs: ['passive'],
  promised: ['packages.listed_usd_per_credit'],
  explain: `Looks only at the contract. Each listed price per credit, to four decimals, is the price
divided by the credits, either rounded in every row or truncated in every row. A price list that mixes
them contradicts itself, so it promises neither: \`assay contract show\` reports it, and no audit repeats it.`,
  decideBy: (_ledgers, { contract }) => pass(contract.packages.length),
})
