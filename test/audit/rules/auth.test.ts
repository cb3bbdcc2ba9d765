import type { BillingRule } from '../../../src/audit/evidence/balances.ts'
import { authRules } from '../../../src/audit/rules/auth/list.ts'
import { inTurn, type Step, shows, testCases } from './billing/in-turn.ts'

const auth06 = authRules.find(({ id }) => id === 'AUTH-06') as BillingRule

/** Two accounts at the same times: the steps of each are ten seconds apart. */
const accounts = (first: readonly Step[], second: readonly Step[]) =>
  [first, second].flatMap((steps, nth) =>
    inTurn(...steps).map((row) => ({
      ...row,
      slot: row.slot + 100 * nth,
      account: `account-${nth}`,
      keyFp: `key-${nth}`,
    })),
  )

testCases([
  [
    'two accounts that each pay for their own requests pass',
    auth06,
    accounts([100, shows(99), 99], [50, 50, shows(49), 49]),
    { verdict: 'pass', observations: 2 },
  ],
  [
    'what one account did not pay for a request, and another paid at that time, went to the wrong account',
    auth06,
    accounts([100, shows(100), 100], [50, 50, 49]),
    {
      verdict: 'fail',
      observed: 'account-1 paid 1 too much, account-0 1 too little',
      witnesses: [{ slot: 102 }, { slot: 1 }],
    },
  ],
  [
    'what is missing at another time than the request is of another cause',
    auth06,
    accounts([100, shows(100), 100, 100, 100], [50, 50, 50, 50, 49]),
    {
      verdict: 'inconclusive',
      why: 'the balance of one account is too low and that of another too high, but mostly at other times: no request is shown to be paid by the wrong account',
    },
  ],
])
