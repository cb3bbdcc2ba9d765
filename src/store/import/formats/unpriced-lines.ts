import { add, decimalText, type Rational, readNumber, zero } from '../../../money/rational.ts'
import { first, type NormalRow } from './row.ts'

interface Tally {
  lines: number
  readonly amounts: Map<string, Rational>
  readonly services: Set<string>
}

const newTally = (): Tally => ({ lines: 0, amounts: new Map(), services: new Set() })

/**
 * What a bill charges beside models. Lines of other services (storage, machines) are no rows; lines of use that name no
 * model stay in the cost. Both are counted, with their amounts, so that no money disappears and none is added in silence.
 */
export class UnpricedLines {
  #lines = 0
  readonly #others = newTally()
  readonly #nameless = newTally()

  /** Counts a row. @returns whether it is one of another service */
  isOther(row: NormalRow): boolean {
    this.#lines++
    if (row.otherService !== undefined) {
      counted(this.#others, row).services.add(row.otherService)
      return true
    }
    const isUse = row.type === undefined || row.type === 'usage'
    if (isUse && first(row.model) === undefined && first(row.cost) !== undefined) {
      counted(this.#nameless, row)
    }
    return false
  }

  notes(): readonly string[] {
    const [others, nameless] = [this.#others, this.#nameless]
    const all = `${this.#lines.toLocaleString('en-US')} line${this.#lines === 1 ? '' : 's'}`
    const services = [...others.services].toSorted()
    const named = `${services.slice(0, 5).join(', ')}${services.length > 5 ? ' …' : ''}`
    return [
      ...(others.lines === 0
        ? []
        : [
            `${others.lines.toLocaleString('en-US')} of ${all} left out, ${amountsOf(others)}: ${others.lines === 1 ? 'it is of another service' : 'they are of other services'} (${named}).`,
          ]),
      ...(nameless.lines === 0
        ? []
        : [
            `${nameless.lines.toLocaleString('en-US')} of ${all} ${nameless.lines === 1 ? 'names' : 'name'} no model, ${amountsOf(nameless)}: ${nameless.lines === 1 ? 'it is' : 'they are'} in the cost.`,
          ]),
    ]
  }
}

function counted(tally: Tally, { cost, unit }: NormalRow): Tally {
  tally.lines++
  const amount = readNumber(String(cost ?? '')) ?? zero
  const name = unit ?? ''
  tally.amounts.set(name, add(tally.amounts.get(name) ?? zero, amount))
  return tally
}

const amountsOf = ({ amounts }: Tally) =>
  [...amounts].map(([unit, amount]) => `${decimalText(amount)} ${unit}`.trim()).join(' and ')
