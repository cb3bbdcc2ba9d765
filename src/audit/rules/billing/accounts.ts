import { billingRule, credits, witnessOf } from '../../evidence/balances.ts'
import type { BalanceReading } from '../../evidence/billing/balance-reading.ts'
import { effects, filterHistory } from '../../evidence/billing/history.ts'
import { readBalance } from '../../evidence/billing/read-balance.ts'
import { exchangesOf } from '../../evidence/exchange.ts'
import type { Evidence } from '../../rule.ts'
import { fail, inconclusive, notObserved, pass, passed, type Verdict } from '../../verdict.ts'
import { clearStretches, type SeenStretch } from './stretches.ts'

export const bill16 = billingRule({
  id: 'BILL-16',
  title: 'A balance belongs to the account: its keys share it',
  section: '§2.8, §8.1',
  needs: ['active', 'quiescence'],
  explain: `Two keys that the scenario assigns to one account: their values together must fit one history.
It fails if they do not fit across the keys, while most values of each key alone do. If those of some accounts fit and those of another fit no history, it is inconclusive.`,
  decideBy(readings): Verdict {
    let observations = 0
    let open: BalanceReading | null = null
    for (const reading of readings) {
      const { history } = reading
      const keys = [...new Set(history.key.filter((_, row) => !Number.isNaN(history.value[row]!)))]
      if (keys.length < 2) continue
      if (reading.fits === 'exact' || reading.fits === 'loose') {
        observations += reading.observations
        continue
      }
      // Separate balances: idle values fit within each key, but not from one key to another.
      const wrong = reading.conservation.stretches.filter(
        (stretch) => history.key[stretch.from] !== history.key[stretch.to] && stretch.excess !== 0,
      )
      const alone = keys.flatMap((key) => {
        const own = filterHistory(history, (row) => history.key[row] === key)
        return readBalance(own).conservation.stretches
      })
      const wrongAlone = alone.filter((stretch) => stretch.excess !== 0)
      if (wrong.length < 2 || wrongAlone.length * 2 > alone.length) {
        if (reading.fits === 'none') open ??= reading
        continue
      }
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
    if (open !== null && observations > 0)
      return inconclusive(
        open.observations,
        `account ${open.history.account}: no history fits the values of its keys, and those of each key alone do not show why (BILL-11)`,
      )
    return passed(observations, 'two keys of one account (keys: … account: …)')
  },
})

export const bill17 = billingRule({
  id: 'BILL-17',
  title: 'A retried request is charged once, and its failed attempts are free',
  section: '§7.5, §8.4',
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
      .flatMap((reading) => reading.conservation.stretches.map((stretch) => ({ reading, stretch })))
      .filter(({ reading: { history }, stretch }) =>
        history.slot
          .subarray(stretch.from, stretch.to + 1)
          .some((slot) => replayed.has(`${history.runId}/${slot}`)),
      )
    const stretches = clearStretches(readings)
    const other = stretches.find(
      (seen) =>
        seen.stretch.excess > 0 &&
        onlySucceeded(seen) &&
        !singles.some(({ stretch }) => stretch === seen.stretch),
    )
    const dear = singles.find(({ stretch: { excess } }) => excess > 0)
    if (dear !== undefined) {
      if (other !== undefined) return costlyWithout(other, singles.length)
      return fail(singles.length, {
        expected: 'at most the price for a request that was sent before under its Idempotency-Key',
        observed: `${credits(dear.stretch.excess)} more`,
        witnesses: [
          witnessOf(dear.reading, dear.stretch.to, `${credits(dear.stretch.excess)} too low`),
        ],
      })
    }
    const isRetried = ({ reading: { history }, stretch }: SeenStretch) =>
      history.retry.subarray(stretch.from + 1, stretch.to + 1).some((retry) => retry > 0)
    const retried = stretches.filter(isRetried)
    if (retried.length === 0 && singles.length > 0) return pass(singles.length)
    if (retried.length === 0)
      return notObserved('a retry after a 429 between two idle values (retries: specification)')
    const wrong = retried.find(({ stretch: { excess } }) => excess > 0)
    if (wrong === undefined) return pass(retried.length)
    const { reading, stretch } = wrong
    if (other !== undefined) return costlyWithout(other, retried.length)
    const row = reading.history.retry.findIndex((retry, at) => at > stretch.from && retry > 0)
    return fail(retried.length, {
      expected: `${credits(stretch.sure)} for ${stretch.charges} successes and their failed attempts`,
      observed: `${credits(stretch.sure + stretch.excess)}`,
      witnesses: [witnessOf(reading, row, 'an attempt that was tried again')],
    })
  },
})

const costlyWithout = (other: SeenStretch, observations: number): Verdict =>
  inconclusive(
    observations,
    'stretches without a retry cost too much as well, so retries need not be the cause',
    [
      witnessOf(
        other.reading,
        other.stretch.to,
        `${credits(other.stretch.excess)} too low, no retry`,
      ),
    ],
  )

function onlySucceeded({ reading: { history }, stretch }: SeenStretch): boolean {
  const [from, to] = [stretch.from + 1, stretch.to + 1]
  return (
    // A failure may show the balance before a charge of its own.
    history.effect[stretch.from] !== effects.failure &&
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
  promised: ['packages.listed_usd_per_credit'],
  explain: `Looks only at the contract. Each listed price per credit, to four decimals, is the price
divided by the credits, either rounded in every row or truncated in every row. A price list that mixes
them contradicts itself, so it promises neither: \`assay contract show\` reports it, and no audit repeats it.`,
  decideBy: (_ledgers, { contract }) => pass(contract.packages.length),
})
