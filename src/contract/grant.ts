/** Credits of one grant, which share an expiry. */
export interface Grant {
  readonly name: string
  readonly credits: number
  /** Null if they never expire. */
  readonly expiresUs: number | null
  /** Grants of a lower number burn first; default: 0 for all. Of one number, the earliest expiry is first. */
  readonly rank?: number
  /** When it begins, Unix microseconds; null or absent if it has. */
  readonly fromUs?: number | null
  /** The models whose use it pays for; null or absent for all use. */
  readonly models?: readonly string[] | null
  /** What it paid since a grant last began or ended, by one model of each kind: another grant may take it over. */
  readonly paid?: readonly { readonly model: string | null; readonly credits: number }[]
}
