/** Lengths of time, in milliseconds and in microseconds. A local day where clocks change is no `day`. */
export const secondMs = 1_000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs
export const hourUs = 1000 * hourMs
export const dayUs = 1000 * dayMs
