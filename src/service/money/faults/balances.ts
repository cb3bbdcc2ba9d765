import { type add, isZero } from '../../../money/rational.ts'
import type { Charge, Making } from '../charge.ts'
import {
  another,
  billing,
  type Enforcement,
  free,
  type MoneyFault,
  moneyFault,
} from './money-fault.ts'

const isAborted = ({ metered }: Making) => metered.outcome === 'abort'

const enforcing = (fault: MoneyFault, enforcement: Enforcement): MoneyFault => ({
  ...fault,
  enforcement,
})
const asIs = (charge: Charge) => charge
/** Gives money back. */
const refunding =
  (refund: (making: Making) => ReturnType<typeof add> | null): MoneyFault['distort'] =>
  (charge, making, where) => {
    const back = refund(making)
    if (back === null || isZero(back)) return null
    const given = { ...making.bill, cost: { ...back, numerator: -back.numerator } }
    return another(charge, { counts: {}, bill: given, cost: given.cost }, where)
  }

export const balanceFaults: readonly MoneyFault[] = [
  enforcing(
    moneyFault('F40', 'overdraft', 'B', 'the balance is checked first and charged later', asIs),
    'overdraft',
  ),
  enforcing(
    moneyFault('F41', 'counter-doubled', 'B', 'requests are refused by twice the spend', asIs),
    'counter-doubled',
  ),
  moneyFault(
    'F42',
    'reservation-kept',
    'B',
    'one request in fifty costs its deposit, too',
    (charge, { deposit }) => ({
      ...charge,
      postings: [...charge.postings, deposit],
    }),
    0.02,
  ),
  enforcing(
    moneyFault(
      'F43',
      'budget-ignored',
      'B',
      'no request is refused although the money is used up',
      asIs,
    ),
    'budget-ignored',
  ),
  moneyFault(
    'F44',
    'refund-twice',
    'LB',
    'a request that the service breaks is paid back twice',
    refunding((making) =>
      making.metered.outcome === 'broken' || making.metered.outcome === 'refused'
        ? making.deposit
        : null,
    ),
  ),
  moneyFault(
    'F45',
    'abort-refund-all',
    'LB',
    'a stream without its last usage gets its whole deposit back',
    billing((making) => (isAborted(making) && making.metered.stream ? free(making) : null)),
  ),
]
