import type { Contract } from '../../contract/contract.ts'
import type { UsageForecast } from '../../report/usage/shape.ts'
import { hourMs } from '../../user/durations.ts'
import { scopeOf } from '../api/asked.ts'
import { busy, type Foreground, Turns } from '../api/limits.ts'
import type { AccountView } from '../settings/account-view.ts'
import type { Bearer } from '../settings/tokens.ts'
import type { Snapshot } from '../source/snapshot.ts'
import { forecastOf } from './outlook.ts'

const mostKept = 200
/** A forecast takes a third of a second of a processor, so it is not made anew for each new event. */
const leastAgeMs = 60_000
/** A forecast that is older is awaited; until then the one before is shown while the next is made. */
const mostAgeMs = 10 * 60_000
const longestWaitMs = 30_000
/** A forecast gives way to answers so long, since a page is read without it. */
const givesWayMs = 2000

interface Kept {
  readonly page: Promise<UsageForecast | null>
  /** What it was made of. */
  readonly mark: string
  /** Unix milliseconds. */
  readonly atMs: number
  isMade: boolean
  /** False until it is made, and if there is nothing to forecast from. */
  isKnown: boolean
  isRenewed: boolean
}

export interface ForecastSoFar {
  /** Null for an account without usage, and while it is pending. */
  readonly page: UsageForecast | null
  readonly isPending: boolean
}

/** Forecasts, peaks and flags of accounts: one is made at a time, and each is kept while it is true enough. */
export class Forecasts {
  private readonly kept = new Map<string, Kept>()
  private readonly turns = new Turns(1)
  private readonly snapshot: Snapshot
  private readonly contract: Contract | null
  /** Unix milliseconds. */
  private readonly now: () => number
  private readonly foreground: Foreground
  /** Called when a kept forecast of an account was replaced. */
  onNew: (account: string) => void = () => {}

  /** @param foreground answers, to which forecasts give way */
  constructor(
    snapshot: Snapshot,
    contract: Contract | null,
    now: () => number,
    foreground: Foreground,
  ) {
    this.foreground = foreground
    this.snapshot = snapshot
    this.contract = contract
    this.now = now
  }

  /** Changes with the forecast that `read` gives, and when it is made. */
  markOf(bearer: Bearer, view: AccountView): string {
    const kept = this.kept.get(keyOf(bearer, view))
    const isNone = kept === undefined || this.isOver(kept, bearer)
    return isNone || !kept.isKnown ? `${this.markNow(bearer)} pending` : kept.mark
  }

  /** @returns null for an account without usage. A failure is not kept. */
  read(bearer: Bearer, view: AccountView): Promise<UsageForecast | null> {
    const key = keyOf(bearer, view)
    const kept = this.kept.get(key)
    if (kept === undefined || this.isOver(kept, bearer)) return this.make(key, bearer, view).page
    return kept.page
  }

  /** Begins the next forecast if the one that is shown is old. */
  renew(bearer: Bearer, view: AccountView): void {
    const key = keyOf(bearer, view)
    const kept = this.kept.get(key)
    if (kept === undefined || this.isOver(kept, bearer)) return
    const isOld = kept.mark !== this.markNow(bearer) && this.now() - kept.atMs > leastAgeMs
    if (isOld && !kept.isRenewed) {
      kept.isRenewed = true
      const next = this.begin(bearer, view)
      next.page.then(
        () => {
          this.keep(key, next)
          this.onNew(bearer.account)
        },
        () => {
          kept.isRenewed = false
        },
      )
    }
  }

  /** As `read`, for those who wait no longer than this, and not behind the forecasts of others. */
  async readSoon(bearer: Bearer, view: AccountView, waitMs: number): Promise<ForecastSoFar> {
    const kept = this.kept.get(keyOf(bearer, view))
    const isNext = kept !== undefined || !this.turns.isFull
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<ForecastSoFar>((resolve) => {
      timer = setTimeout(resolve, isNext ? waitMs : 0, { page: null, isPending: true })
    })
    const made = this.read(bearer, view).then((page) => ({ page, isPending: false }))
    try {
      return await Promise.race([made, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Whether the forecast that `markOf` names is made. */
  isKnown(bearer: Bearer, view: AccountView): boolean {
    const kept = this.kept.get(keyOf(bearer, view))
    return kept?.isMade === true && !this.isOver(kept, bearer)
  }

  /** Begins none until it is over. */
  pause(isPaused: boolean): void {
    this.turns.allow(isPaused ? 0 : 1)
  }

  /** Forgets all. */
  forget(): void {
    this.kept.clear()
  }

  private markNow({ account }: Bearer): string {
    return `${this.snapshot.versionOf(account)}/${Math.floor(this.now() / hourMs)}`
  }

  private isOver({ mark, atMs, isKnown }: Kept, bearer: Bearer): boolean {
    return mark !== this.markNow(bearer) && (!isKnown || this.now() - atMs > mostAgeMs)
  }

  private make(key: string, bearer: Bearer, view: AccountView): Kept {
    const made = this.begin(bearer, view)
    this.keep(key, made)
    made.page.catch(() => {
      if (this.kept.get(key) === made) this.kept.delete(key)
    })
    return made
  }

  private begin(bearer: Bearer, view: AccountView): Kept {
    // As of the start of the hour, so that a forecast made anew is the same.
    const asOfMs = Math.floor(this.now() / hourMs) * hourMs
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(busy()), longestWaitMs).unref()
    const page = this.turns.take(bearer.account, late.signal, async () => {
      clearTimeout(timer)
      await this.foreground.quiet(givesWayMs)
      return forecastOf(this.snapshot, scopeOf(bearer), view, this.contract, asOfMs)
    })
    const made: Kept = {
      page,
      mark: this.markNow(bearer),
      atMs: this.now(),
      isMade: false,
      isKnown: false,
      isRenewed: false,
    }
    page.then(
      (known) => {
        made.isMade = true
        made.isKnown = known !== null
      },
      () => {},
    )
    return made
  }

  private keep(key: string, made: Kept): void {
    this.kept.delete(key)
    this.kept.set(key, made)
    if (this.kept.size > mostKept) this.kept.delete(this.kept.keys().next().value!)
  }
}

const keyOf = ({ account, keys }: Bearer, { timezone, holdings }: AccountView) =>
  JSON.stringify([account, keys, timezone, holdings], (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
