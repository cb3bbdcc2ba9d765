import { build, encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { Counts, type CountsSlice, highestUs } from './counts.ts'

/** Counts as HdrHistogram's own bytes (V2, deflated), as the store keeps them. */
export function histogramBytes(slice: CountsSlice): Uint8Array {
  const histogram = build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: highestUs,
    numberOfSignificantValueDigits: 3,
    useWebAssembly: false,
  })
  const counts = new Counts()
  counts.add(slice)
  for (const [us, count] of counts.filled()) histogram.recordValueWithCount(us, count)
  return Buffer.from(encodeIntoCompressedBase64(histogram), 'base64')
}
