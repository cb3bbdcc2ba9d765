import { addedTo, type Counts, movedTo, withoutParts } from '../metered.ts'
import { nothing } from '../sheet.ts'
import { type MoneyFault, moneyFault } from './money-fault.ts'

const has = (counts: Counts, part: keyof Counts) => (counts[part] ?? 0) > 0

export const partFaults: readonly MoneyFault[] = [
  moneyFault('F27', 'reasoning-double', 'SB')
    .does('reasoning is added to an output that contains it')
    .misreports((counts) =>
      has(counts, 'reasoning') ? addedTo(counts, 'output_visible', counts.reasoning ?? 0) : null,
    ),
  moneyFault('F28', 'reasoning-free', 'SB')
    .does('reasoning is missing from the count and the cost')
    .misreports((counts) =>
      has(counts, 'reasoning') ? withoutParts(counts, ['reasoning']) : null,
    ),
  moneyFault('F29', 'reasoning-at-output', 'SLB')
    .does('reasoning costs the price of output')
    .counts((counts) =>
      has(counts, 'reasoning') ? movedTo(counts, 'reasoning', 'output_visible') : null,
    ),
  moneyFault('F30', 'image-as-text', 'SLB')
    .does('images in the answer cost the price of text')
    .counts((counts) =>
      has(counts, 'output_image') ? movedTo(counts, 'output_image', 'output_visible') : null,
    ),
  moneyFault('F31', 'image-input-free', 'SLB')
    .does('images in the prompt are missing from the count and the cost')
    .misreports((counts) =>
      has(counts, 'input_image') ? withoutParts(counts, ['input_image']) : null,
    ),
  moneyFault('F32', 'search-free', 'SB')
    .does('searches are not charged')
    .prices(({ metered }) =>
      metered.calls.search === undefined
        ? null
        : { line: (line) => (line.part === 'search' ? { ...line, cost: nothing } : line) },
    ),
]
