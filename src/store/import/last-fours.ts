import type { Session } from '../session/session.ts'

/** Made in stores of earlier builds, too, when they are opened. */
export const lastFoursTable = `
-- The last four letters of keys, as log lines show them. A name of several keys has several rows.
CREATE TABLE IF NOT EXISTS usage_keys (
  account VARCHAR,
  key_fp VARCHAR NOT NULL,              -- or a name, if the log names its keys
  last_four VARCHAR NOT NULL
);
`

/** SQL, for both engines, for the last four letters of each key of an account. A name of several keys has none. */
export const lastFoursSql = (from = 'usage_keys') =>
  `SELECT account, key_fp, min(shown.last_four) AS last_four FROM ${from} AS shown
   GROUP BY account, key_fp HAVING min(shown.last_four) = max(shown.last_four)`

/** Enters what the staged lines show. Known ones show it, too: an earlier build kept none. */
export function enterLastFours(session: Session): Promise<void> {
  return session.execute(
    `INSERT INTO usage_keys (account, key_fp, last_four)
     SELECT DISTINCT account, key_fp, key_last_four FROM staging.lines
     WHERE reason IS NULL AND key_fp IS NOT NULL AND key_last_four IS NOT NULL
     EXCEPT SELECT account, key_fp, last_four FROM usage_keys`,
  )
}
