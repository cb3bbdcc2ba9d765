import { appendFileSync } from 'node:fs'
import { userError } from '../../user/user-error.ts'
import type { Kit } from '../behaviour.ts'
import type { Fault } from '../faults/fault.ts'
import type { ServiceOptions } from '../options.ts'
import { parseConducts } from './conducts.ts'
import { moneyFaults } from './faults/list.ts'
import { type ActiveMoneyFault, parseMoneyFault } from './faults/money-fault.ts'
import { MoneyBilling } from './money-billing.ts'

export interface MoneyOptions {
  /** Faults that are not of money. */
  readonly otherFaults: readonly (string | Fault)[]
  /** Null if the contract has no prices. */
  billing(kit: Kit): MoneyBilling | null
}

/**
 * The options of a service that bills in money.
 *
 * @throws UserError for faults and conducts that need prices if the contract has none
 */
export function moneyOptions(options: ServiceOptions): MoneyOptions {
  const { faults = [], conducts = [], spendLogPath } = options
  const terms = options.contract?.prices
  const isOfMoney = (each: string | Fault): each is string =>
    typeof each === 'string' &&
    (moneyFaults.some(({ name }) => name === nameOf(each)) || each.includes('@'))
  const ofMoney = faults.filter(isOfMoney)
  if (terms === undefined) {
    const needsPrices = ofMoney.find((each) => each.includes('@')) ?? conducts[0] ?? spendLogPath
    if (needsPrices !== undefined) {
      throw userError.service(
        `"${needsPrices}": expected --contract with prices, in which the service bills; see docs/prices.md`,
      )
    }
    return { otherFaults: faults, billing: () => null }
  }
  if (options.dataPath !== undefined && options.dataPath !== ':memory:') {
    throw userError.service(
      '--data: a service that bills in money keeps its charges in memory; leave --data out',
    )
  }
  const active: readonly ActiveMoneyFault[] = ofMoney.map((each) =>
    parseMoneyFault(each, moneyFaults),
  )
  const honest = parseConducts(conducts)
  const writeRow =
    spendLogPath === undefined ? null : (line: string) => appendFileSync(spendLogPath, line)
  return {
    otherFaults: faults.filter((each) => !isOfMoney(each)),
    billing: (kit) => new MoneyBilling(kit, terms, active, honest, writeRow),
  }
}

/** `late` of `late@balance=3`. */
const nameOf = (text: string): string => text.split(/[@=]/)[0]!
