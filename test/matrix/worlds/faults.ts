import type { Draw } from './draw.ts'
import type { Fault } from './fault.ts'
import { deedFaults, endFaults } from './fault-ends.ts'
import { partFaults, roundedFault, wholeFaults, wrongNumber } from './fault-prices.ts'
import { stepFaults } from './fault-steps.ts'
import { wideFaults } from './fault-wide.ts'
import { type Part, parts } from './terms.ts'

/** A fault of any family, with the places where it shows. @param isWide also those of what few services have */
export function drawFault(draw: Draw, isWide = false): Fault {
  const wide = () => draw.one(wideFaults)
  const part = (other?: Part) => draw.one(parts.filter((each) => each !== other))
  const ofParts = () => {
    const one = part()
    return draw.one(partFaults(one, part(one)))
  }
  const fault = draw.one([
    ...(isWide ? [wide, wide, wide, wide, wide, wide] : []),
    ...[ofParts, ofParts, ofParts],
    () => wrongNumber(part(), draw.one([11n, 9n, 13n, 8n])),
    () => draw.one(wholeFaults(draw.chance(0.4))),
    () => roundedFault(draw.one([2, 4, 6]), draw.one(['up', 'down'])),
    ...[() => draw.one(stepFaults), () => draw.one(stepFaults)],
    ...[() => draw.one(endFaults), () => draw.one(deedFaults)],
  ])()
  // A wrong meter shows everywhere, a wrong book alone.
  const places = draw.chance(0.4) ? fault.places : [draw.one(fault.places)]
  return { ...fault, places }
}
