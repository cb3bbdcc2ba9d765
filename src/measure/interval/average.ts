/** The mean, and the mean square of the distances from it. */
export function averageOf(values: Float64Array) {
  let sum = 0
  for (let at = 0; at < values.length; at++) sum += values[at]!
  const mean = sum / values.length
  let squares = 0
  for (let at = 0; at < values.length; at++) squares += (values[at]! - mean) ** 2
  return { mean, variance: squares / values.length }
}
