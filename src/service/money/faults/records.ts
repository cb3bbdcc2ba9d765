import { add, isZero, multiply, rational, roundTo } from '../../../money/rational.ts'
import { nothing } from '../sheet.ts'
import { another, type MoneyFault, moneyFault, pricing } from './money-fault.ts'

const one = rational(1n)

/** Without the factor of the group. */
const withoutRatio: MoneyFault['distort'] = pricing(({ bill }) =>
  bill.times.numerator === bill.times.denominator ? null : { times: () => one },
)

export const recordFaults: readonly MoneyFault[] = [
  moneyFault('F46', 'ratio-shown-only', 'LB')
    .does('the log names the ratio, and the charge is made without it')
    .distorts((charge, making, where) => {
      const wrong = withoutRatio(charge, making, where)
      // The row still names the ratio.
      return wrong === null
        ? null
        : { ...wrong, rows: wrong.rows.map((row) => ({ ...row, bill: making.bill })) }
    }),
  moneyFault('F47', 'balance-without-ratio', 'B')
    .does('the balance falls without the ratio that the log applies')
    .distorts(withoutRatio),
  moneyFault('F48', 'zero-ratio-is-one', 'SB')
    .does('a ratio of 0 counts as 1')
    .prices(({ bill }) => (isZero(bill.times) ? { times: () => one } : null)),
  moneyFault('F49', 'truncate-cents', 'B')
    .does('charges are cut to two decimals')
    .bills((making) => ({ ...making.bill, cost: roundTo(making.bill.cost, 2, 'down') })),
  moneyFault('F50', 'round-component-up', 'SL')
    .does('each part is rounded up to a cent')
    .bills(({ bill }) => ({
      ...bill,
      cost: bill.lines.reduce((sum, line) => add(sum, roundTo(line.cost, 2, 'up')), nothing),
    })),
  moneyFault('F51', 'log-twice', 'L')
    .does('each request has two rows')
    .distorts((charge, _making, where) =>
      charge.rows[0] === undefined ? null : another(charge, charge.rows[0], where),
    ),
  moneyFault('F52', 'row-missing', 'L', 0.02)
    .does('a success has no row')
    .distorts((charge, { metered }, where) =>
      metered.outcome === 'success' && where.includes('logged') ? { ...charge, rows: [] } : null,
    ),
  moneyFault('F53', 'resend-charged', 'LB')
    .does('a body that is sent again within a second is charged twice')
    .distorts((charge, making, where) =>
      making.isResent && charge.rows[0] !== undefined
        ? another(charge, charge.rows[0], where)
        : null,
    ),
  moneyFault('F54', 'per-call-is-per-second', 'SB')
    .does('a price per call is charged per second')
    .prices(({ metered }) => ({
      line: (line) => {
        if (line.part !== 'request') return line
        const seconds = Math.max(1, Math.ceil((metered.endMs - metered.startMs) / 1000))
        return { ...line, cost: multiply(line.cost, rational(BigInt(seconds))) }
      },
    })),
]
