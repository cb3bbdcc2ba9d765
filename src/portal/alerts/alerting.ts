import { resolve } from 'node:path'
import { timeIn } from '../../measure/usage/calendar.ts'
import { openFile, type StoreFile } from '../../store/session/file.ts'
import { UserError } from '../../user/user-error.ts'
import type { Answering } from '../api/answering.ts'
import { type Asked, shownFor } from '../api/asked.ts'
import { causeOf } from '../api/refused.ts'
import type { Answers } from '../api/shapes.ts'
import { readHeld } from '../figures/outlook.ts'
import { accountView } from '../settings/account-view.ts'
import type { OpenedSettings } from '../settings/opened-settings.ts'
import type { Bearer } from '../settings/tokens.ts'
import type { Snapshot } from '../source/snapshot.ts'
import { Deliveries, type Post } from './deliveries.ts'
import { alertsDue } from './due.ts'
import { Journal } from './journal.ts'

interface AlertingOptions {
  readonly snapshot: Snapshot
  readonly settings: () => OpenedSettings
  readonly answering: Answering
  readonly post: Post
  /** Unix milliseconds. */
  readonly now: () => number
  readonly log: (line: string) => void
}

const quarterMs = 15 * 60_000

/** A file of alerts. Its lock is null while another server has it: this one then reads, and sends nothing. */
interface OpenedFile {
  readonly path: string
  readonly journal: Journal
  lock: StoreFile | null
  /** Whether the log says that another server sends. */
  isLogged: boolean
}

/** Decides which alerts are due, of the accounts that the settings watch, and sends them. */
export class Alerting {
  private readonly options: AlertingOptions
  private readonly deliveries: Deliveries
  /** What each account was last looked at with. */
  private readonly looked = new Map<string, string>()
  private isClosed = false
  private opened: OpenedFile | null = null

  constructor(options: AlertingOptions) {
    this.options = options
    this.deliveries = new Deliveries(options.post, options.now, options.log)
  }

  /** Looks at each account with something new, keeps its alerts, and begins to send them. Another failure is logged. */
  async look(): Promise<void> {
    const { snapshot, settings, now, log } = this.options
    const { settings: given, webhooks } = settings()
    const journal = this.journal()
    if (journal === null || !(await this.isHeld())) return
    // Another server may have had the file until now.
    journal.read()
    // Each needs a forecast, so all are watched only if the settings say so.
    const unnamed = given.everyAccount === undefined ? [] : snapshot.accounts()
    for (const account of new Set([...given.accounts.keys(), ...unnamed])) {
      if (this.isClosed) return
      const mark = this.markOf(account)
      if (this.looked.get(account) === mark) continue
      try {
        const due = await this.dueOf(account, journal)
        if (this.isClosed) return
        const to = webhooks.map(({ id }) => id)
        for (const { unless, ...alert } of due)
          if (!unless.some((id) => journal.alerts.has(id))) journal.add(alert, to, now())
        this.looked.set(account, mark)
        this.send()
      } catch (error) {
        log(`the alerts of an account could not be made: ${causeOf(error)}`)
      }
    }
  }

  /** Begins the attempts that are due. */
  send(): void {
    const journal = this.journal()
    journal?.read()
    if (journal === null || this.opened?.lock === null) return
    this.deliveries.begin(journal, this.options.settings().webhooks)
  }

  /** The alerts that a token may see: of its whole account, and of what it shows. */
  answer({ bearer, view }: Asked, limit: number): Answers['alerts'] {
    if (bearer.keys !== null) return { alerts: [] }
    const seen = [...(this.journal()?.alerts.values() ?? [])].filter(
      ({ alert }) =>
        alert.account === bearer.account && alert.needs.every((each) => bearer.shows.has(each)),
    )
    const time = (ms: number) => timeIn(Math.round(ms) * 1000, view.timezone)
    return {
      alerts: seen
        .reverse()
        .slice(0, limit)
        .map(({ alert, atMs, deliveries }) => ({
          id: alert.id,
          at: time(atMs),
          type: alert.type,
          data: alert.data,
          deliveries: [...deliveries.values()].map(({ state, attempts, status, dueMs }) => ({
            state,
            attempts,
            status,
            next: state === 'pending' ? time(dueMs) : null,
          })),
        })),
    }
  }

  /** Changes with the alerts and deliveries of an account. */
  versionOf(account: string): string {
    const mine = [...(this.journal()?.alerts.values() ?? [])].filter(
      ({ alert }) => alert.account === account,
    )
    return JSON.stringify(mine.map(({ alert, deliveries }) => [alert.id, ...deliveries.values()]))
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.deliveries.end()
    this.opened?.journal.close()
    this.opened?.lock?.release()
    this.opened = null
  }

  /** @throws UserError for a file that cannot be opened */
  private journal(): Journal | null {
    if (this.isClosed) return null
    const { alerts, folder } = this.options.settings().settings
    const path = alerts === undefined ? null : resolve(folder, alerts.file)
    if ((this.opened?.path ?? null) !== path) {
      this.leave()
      if (path === null) return null
      const journal = new Journal(path, this.options.now())
      this.opened = { path, journal, lock: null, isLogged: false }
    }
    return this.opened?.journal ?? null
  }

  /** Closes the file once the attempts that are under way are kept in it. */
  private leave(): void {
    const { opened } = this
    this.opened = null
    if (opened === null) return
    opened.lock?.release()
    void this.deliveries.end().then(() => opened.journal.close())
  }

  /**
   * Whether this server is the one that sends. The lock is that of DuckDB on a file beside the alerts: the system frees it with
   * the process, so the next server takes over, also after a kill -9.
   *
   * @throws UserError for a lock that cannot be made
   */
  private async isHeld(): Promise<boolean> {
    const { opened } = this
    if (opened === null) return false
    if (opened.lock !== null) return true
    try {
      const alone = 'another server that sends alerts'
      const lock = await openFile(`${opened.path}.${opened.journal.identity}.lock`, {
        alone,
        isRead: true,
      })
      if (this.isClosed || this.opened !== opened) lock.release()
      else opened.lock = lock
    } catch (error) {
      if (!(error instanceof UserError && error.code === 'store-held')) throw error
      if (!opened.isLogged) {
        this.options.log(
          'alerts.file: another server has it and sends the alerts. This one takes over when that one ends.',
        )
      }
      opened.isLogged = true
    }
    return opened.lock !== null
  }

  private markOf(account: string): string {
    const { snapshot, settings, now } = this.options
    const { digest, settings: given } = settings()
    const { budgets, alertBelow } = accountView(given, account)
    // Without a budget or a level, only new usage brings an alert, and a forecast is dear.
    const isOfTime = given.accounts.has(account) || budgets.length > 0 || alertBelow.length > 0
    const quarter = isOfTime ? Math.floor(now() / quarterMs) : null
    return JSON.stringify([
      ...[snapshot.versionOf(account), quarter, digest],
      given.accounts.get(account),
    ])
  }

  private dueOf(account: string, journal: Journal) {
    const { settings: given } = this.options.settings()
    const bearer: Bearer = {
      account,
      keys: null,
      shows: new Set(given.shows),
      origin: null,
      id: 'alerts',
      expiresS: 0,
    }
    return this.options.answering.look(bearer, accountView(given, account), async (asked, page) => {
      const held = await readHeld(asked, this.options.snapshot)
      const seen = bearer.shows.has(shownFor(held.unit)) ? held : null
      return alertsDue(asked, page, seen, journal.beganMs)
    })
  }
}
