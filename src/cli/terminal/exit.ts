/** Exit codes, which scripts and pipelines rely on. */
export const exit = {
  /** Everything held. */
  ok: 0,
  /** A bug in Assay. */
  internal: 1,
  /** Wrong usage, or a wrong scenario. */
  usage: 2,
  /** A threshold or a rule failed, or a search found no safe rate. */
  failed: 3,
  /** The run is invalid, or the target was never reached. */
  invalid: 4,
  /** Interrupted; rows are kept and the summary is printed. */
  interrupted: 130,
} as const
