import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Size of half the young generation. V8's own range is 1 MB to 16 MB. */
const mostHalfBytes = 4 << 20

/** The most by which the heap may outgrow what was left after the last full collection. */
const mostGrowthPercent = 400

/**
 * Limits the young generation before a service is loaded. What stays in memory after loading would
 * make the young generation grow to its maximum, and it hardly ever shrinks again. A single thread
 * collects, because helpers on the same core take turns with it, for four milliseconds each. V8
 * reads both flags at each collection.
 */
export function holdYoung(): void {
  setFlagsFromString('--no-parallel-scavenge')
  setFlagsFromString('--semi-space-growth-factor=1')
}

/**
 * Keeps the pauses of garbage collection short in a process that does nothing but serve. The pause
 * of the young generation is the time to move what lives in it. A larger one holds more new
 * streams: 16 MB take ten milliseconds and more. 1 MB takes one millisecond, but so often that a
 * plain request costs a fifth more. With 4 MB it costs a twentieth more. A full collection takes
 * thirty milliseconds in two pauses, and would come once every one or two thousand finished
 * streams. It waits until the heap is five times what lives.
 */
export function keepPausesShort(): void {
  setFlagsFromString(`--heap-growing-percent=${mostGrowthPercent}`)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
  setFlagsFromString('--no-expose-gc')
  setFlagsFromString('--semi-space-growth-factor=2')
  // V8 doubles it at a collection after which more lives on than it has room for.
  for (let turn = 0; turn < 64 && 2 * youngHalfBytes() <= mostHalfBytes; turn++) {
    const living = Array.from({ length: 20_000 }, (_, at) => ({ at }))
    collect({ type: 'minor' })
    living.length = 0
  }
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** The room in one half, slightly below its size. */
function youngHalfBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return young === undefined ? 0 : young.space_used_size + young.space_available_size
}
