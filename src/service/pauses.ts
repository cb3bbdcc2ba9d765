import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Of a half of the young generation; by itself V8 goes from 1 MB to 16 MB. */
const mostHalfBytes = 4 << 20

/** By how much the whole heap may outgrow what lived when it was last collected whole. */
const mostGrowthPercent = 400

/**
 * Before a service is loaded: what loading it keeps would make the young generation of the heap
 * grow to its largest, and it hardly ever shrinks again. Collected by the thread that waits for
 * it, since helpers on the same core take turns with it, four milliseconds each. V8 reads both
 * flags at each collection.
 */
export function holdYoung(): void {
  setFlagsFromString('--no-parallel-scavenge')
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Keeps the pauses of garbage collection in this process short, for a program that does nothing
 * but serve. The young generation is collected in the time that it takes to move what lives in it,
 * and the more fits in, the more new streams there are: of 16 MB, ten milliseconds and more. Of
 * 1 MB it takes one, but so often that a plain request costs a fifth more; of 4 MB, a twentieth.
 * A collection of the whole heap takes thirty, in two pauses, and would come with every thousand or
 * two of streams, once they have ended: it is put off until the heap is five times what lives.
 */
export function keepPausesShort(): void {
  setFlagsFromString(`--heap-growing-percent=${mostGrowthPercent}`)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
  setFlagsFromString('--no-expose-gc')
  setFlagsFromString('--semi-space-growth-factor=2')
  // V8 doubles it at the collection by which more has lived on than it has room for.
  for (let turn = 0; turn < 64 && 2 * youngHalfBytes() <= mostHalfBytes; turn++) {
    const living = Array.from({ length: 20_000 }, (_, at) => ({ at }))
    collect({ type: 'minor' })
    living.length = 0
  }
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** What one half has room for, a little less than it takes up. */
function youngHalfBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return young === undefined ? 0 : young.space_used_size + young.space_available_size
}
