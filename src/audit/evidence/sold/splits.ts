import { hourUs } from '../../../user/durations.ts'
import type { Random } from '../../../user/random.ts'
import { type Apart, judgeUnderLoad, leastSessions } from './apart.ts'
import { sharesOf, type TokenSession } from './sessions.ts'

/** Sessions that answer otherwise than the others of their watch. */
export interface Split {
  /** `with the key 0123456789ab`, `between 15:00 and 03:00 UTC` */
  readonly which: string
  readonly sessions: number
  readonly found: Apart
}

const hourOf = ({ atUs }: TokenSession) => (atUs / hourUs) % 24
const clock = (hour: number) => `${String(Math.floor(hour + 24) % 24).padStart(2, '0')}:00`

/** Whether a session is within six hours of the time of the day of another. */
function isNear(session: TokenSession, hour: number): boolean {
  const apart = Math.abs(hourOf(session) - hour)
  return Math.min(apart, 24 - apart) <= 6
}

/**
 * The first kind of sessions (half of the day, key) that answer as by another model; null if none. A watch does not see what
 * comes and goes from the first session on.
 */
export function splitOf(
  watch: readonly TokenSession[],
  tokens: readonly (readonly [prompt: string, token: string])[],
  draw: Random,
): Split | null {
  const first = hourOf(watch[0]!)
  const byDay = {
    which: `between ${clock(first + 6)} and ${clock(first - 6)} UTC`,
    isOf: (session: TokenSession) => !isNear(session, first),
  }
  const byKey = [...new Set(watch.map(({ keyFp }) => keyFp))].map((keyFp) => ({
    which: `with the key ${keyFp}`,
    isOf: (session: TokenSession) => session.keyFp === keyFp,
  }))
  for (const { which, isOf } of [byDay, ...byKey]) {
    const own = watch.filter(isOf)
    const others = watch.filter((session) => !isOf(session))
    if (Math.min(own.length, others.length) < leastSessions) continue
    const found = judgeUnderLoad(
      [{ rest: sharesOf(others, tokens), load: sharesOf(own, tokens) }],
      draw,
    )
    if (found.is === 'fail') return { which, sessions: own.length, found }
  }
  return null
}
