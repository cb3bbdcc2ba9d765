import { parseArgs } from 'node:util'
import { accountKinds, simulateAccount } from '../test/report/simulated-accounts.ts'

/**
 * `node bench/forecast.ts [--accounts 2000] [--kind spike] [--history 7]`: how often the 80 % intervals of the forecast hold what comes,
 * over simulated accounts of each kind with 7, 30 and 90 days of history: of the date on which the credits
 * run out, with the share of accounts in which it came before the interval, and of the burn of each day of the week to come. Ends with 1 where a
 * cell is not within 76 to 84 %.
 */
const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '2000' },
    kind: { type: 'string' },
    history: { type: 'string' },
  },
})
const accounts = Number(values.accounts)
const mostPercent = 84
const leastPercent = 76
const percent = (held: number, of: number) => (100 * held) / of

process.stdout.write('account  history  runs out    early    a day\n')
for (const kind of accountKinds) {
  for (const history of [7, 30, 90]) {
    if ((values.kind ?? kind) !== kind || Number(values.history ?? history) !== history) continue
    let [runOuts, early, days] = [0, 0, 0]
    for (let seed = 0; seed < accounts; seed++) {
      const held = simulateAccount(kind, history, seed * 100 + history)
      runOuts += held.runOut ? 1 : 0
      early += held.isEarly ? 1 : 0
      days += held.days
    }
    const [date, ofDay] = [percent(runOuts, accounts), percent(days, 7 * accounts)]
    const shown = [date, percent(early, accounts), ofDay]
      .map((cell) => `${cell.toFixed(1)} %`.padStart(9))
      .join('')
    process.stdout.write(`${kind.padEnd(9)}${`${history} days`.padStart(7)}${shown}\n`)
    const isWithin = Math.min(date, ofDay) >= leastPercent && Math.max(date, ofDay) <= mostPercent
    if (!isWithin) process.exitCode = 1
  }
}
