import { type add, isZero } from '../../../money/rational.ts'
import type { Making } from '../charge.ts'
import { another, free, isAborted, type MoneyFault, moneyFault } from './money-fault.ts'

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
  moneyFault('F40', 'overdraft', 'B')
    .does('the balance is checked first and charged later')
    .enforces('overdraft'),
  moneyFault('F41', 'counter-doubled', 'B')
    .does('requests are refused by twice the spend')
    .enforces('counter-doubled'),
  moneyFault('F42', 'reservation-kept', 'B', 0.02)
    .does('one request in fifty costs its deposit, too')
    .distorts((charge, { deposit }) => ({ ...charge, postings: [...charge.postings, deposit] })),
  moneyFault('F43', 'budget-ignored', 'B')
    .does('no request is refused although the money is used up')
    .enforces('budget-ignored'),
  moneyFault('F44', 'refund-twice', 'LB')
    .does('a request that the service breaks is paid back twice')
    .distorts(
      refunding((making) =>
        making.metered.outcome === 'broken' || making.metered.outcome === 'refused'
          ? making.deposit
          : null,
      ),
    ),
  moneyFault('F45', 'abort-refund-all', 'LB')
    .does('a stream without its last usage gets its whole deposit back')
    .bills((making) => (isAborted(making) && making.metered.stream ? free(making) : null)),
]
