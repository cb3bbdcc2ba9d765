import { type BalanceReading, isConserved } from './balance-reading.ts'
import type { HeaderMeaning } from './header-meaning.ts'
import { lateCharges } from './late.ts'

/** Reads the history by each meaning, until one leaves nothing open. Null: this meaning has no reading. */
export function eachMeaning(
  meanings: readonly HeaderMeaning[],
  read: (meaning: HeaderMeaning) => BalanceReading | null,
): readonly BalanceReading[] {
  const readings: BalanceReading[] = []
  for (const meaning of meanings) {
    const reading = read(meaning)
    if (reading === null) continue
    readings.push(reading)
    // A reading that is exact without the streams may have a wrong meaning for them.
    if (reading.fits === 'exact' && isConserved(reading)) break
  }
  return readings
}

/** The likeliest meaning's reading; what one of several open meanings explains is not reported. */
export function best(readings: readonly BalanceReading[]): BalanceReading {
  const conserved = readings.filter(isConserved)
  const chosen =
    thatFits(conserved, 'exact') ??
    thatFits(conserved, 'loose') ??
    thatFits(readings, 'exact') ??
    thatFits(readings, 'loose') ??
    conserved[0] ??
    leastWrong(readings)
  if (chosen.fits !== 'none') return chosen
  const late = lateCharges(chosen.history, chosen.conservation, chosen.intervals)
  // A doubt that the reading has of its own stays.
  return late === null
    ? chosen
    : { ...chosen, fits: 'late', ...late, doubt: late.doubt ?? chosen.doubt }
}

const thatFits = (readings: readonly BalanceReading[], how: BalanceReading['fits']) =>
  readings.find(({ fits }) => fits === how)

/** The reading with the fewest stretches unexplained; one in which an ambiguous request pays twice (`isConserved`) last. */
function leastWrong(readings: readonly BalanceReading[]): BalanceReading {
  const wrong = ({ conservation: { stretches } }: BalanceReading) =>
    stretches.filter((stretch) => stretch.excess !== 0).length
  const [least = readings[0]!] = readings
    .filter((reading) => wrong(reading) > 0)
    .toSorted((a, b) => wrong(a) - wrong(b))
  return least
}
