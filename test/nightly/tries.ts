/** How often a property is tried: `day` times for each commit, each time with new values, `night` times by night. */
export const tries = (day: number, night: number): number =>
  process.env.NIGHTLY === undefined ? day : night
