import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { z } from 'zod'
import { hourMs, minuteMs } from '../../user/durations.ts'
import { userError } from '../../user/user-error.ts'
import { words } from '../../user/words.ts'
import { showable } from '../settings/settings.ts'

export const alertTypes = words(
  'budget.reached budget.forecast credits.below credits.running-out usage.unusual-hour',
)

const alertShape = z.object({
  id: z.string(),
  account: z.string(),
  type: z.enum(alertTypes),
  /** What a token must show to see it. */
  needs: z.array(z.enum(showable)),
  data: z.record(z.string(), z.unknown()),
})
/** Something that is said once: the id is the same for the same threshold and period. */
export type Alert = z.infer<typeof alertShape>

const at = z.number()
const lineShape = z.union([
  z.object({ at, began: z.literal(true) }),
  z.object({ at, alert: alertShape, to: z.array(z.string()) }),
  z.object({
    at,
    attempted: z.string(),
    webhook: z.string(),
    status: z.union([z.int(), z.string()]),
  }),
  z.object({ at, replay: z.string() }),
])
type Line = z.infer<typeof lineShape>

export const deliveryStates = ['pending', 'delivered', 'failed'] as const

/** Of an alert to one webhook. Times are Unix milliseconds. */
export interface Delivery {
  readonly state: (typeof deliveryStates)[number]
  readonly attempts: number
  /** The status of the last attempt, or the word of what failed; null before it. */
  readonly status: number | string | null
  /** When the next attempt is made. */
  readonly dueMs: number
}

export interface KnownAlert {
  readonly alert: Alert
  readonly atMs: number
  readonly deliveries: Map<string, Delivery>
}

/** After each failed attempt, as the standard proposes: about three days in all. */
const waitsMs = [
  ...[5000, 5 * minuteMs, 30 * minuteMs, 2 * hourMs, 5 * hourMs],
  ...[10 * hourMs, 14 * hourMs, 20 * hourMs, 24 * hourMs],
]

/** A tenth at most, by the id, so that many alerts do not come again at once. */
const jitterOf = (id: string) => 1 + (Number.parseInt(id.slice(-4), 16) || 0) / 655_350

const fresh = (dueMs: number): Delivery => ({ state: 'pending', attempts: 0, status: null, dueMs })

/**
 * What was decided and delivered: lines of JSON that are on disk before anything is sent. A line that a crash cut off
 * was not acted upon, and is passed over. Others may append to the file, as `assay usage alerts --replay` does.
 */
export class Journal {
  readonly alerts = new Map<string, KnownAlert>()
  /** When the file began, Unix milliseconds. */
  beganMs = Number.POSITIVE_INFINITY
  /** Of the file itself: one that was removed and made again is another one. */
  readonly identity: string
  private readonly file: number
  private offset = 0
  private lastRead = ''

  /** @throws UserError for a file that cannot be opened */
  constructor(path: string, nowMs: number) {
    try {
      this.file = openSync(path, 'a+', 0o600)
    } catch (error) {
      throw userError.usage(
        `alerts.file: ${path} cannot be opened (${(error as NodeJS.ErrnoException).code}).`,
      )
    }
    this.identity = String(fstatSync(this.file).ino)
    this.read()
    if (this.beganMs === Number.POSITIVE_INFINITY) this.write({ at: nowMs, began: true })
  }

  /** Reads what was appended. */
  read(): void {
    const { size } = fstatSync(this.file)
    // Whoever empties the file, such as logrotate, keeps the server.
    if (size < this.offset) this.offset = 0
    const bytes = Buffer.alloc(Math.max(0, size - this.offset))
    const count = readSync(this.file, bytes, 0, bytes.length, this.offset)
    const end = bytes.subarray(0, count).lastIndexOf(10) + 1
    this.offset += end
    for (const text of bytes.subarray(0, end).toString().split('\n')) {
      const line = lineOf(text)
      if (line === null) continue
      this.take(line)
      this.lastRead = text
    }
  }

  /** Keeps an alert that is not known yet. @returns whether it is new */
  add(alert: Alert, to: readonly string[], nowMs: number): boolean {
    if (this.alerts.has(alert.id)) return false
    this.write({ at: nowMs, alert, to: [...to] })
    return true
  }

  /** Keeps an attempt: in memory also if the file cannot be written, since the alert has been sent. */
  attempted(id: string, webhook: string, status: number | string, nowMs: number): void {
    const line = { at: nowMs, attempted: id, webhook, status }
    try {
      this.write(line)
    } catch (error) {
      // A line that was written whole was read, also if the disk did not confirm it.
      if (this.lastRead !== JSON.stringify(line)) this.take(line)
      throw error
    }
  }

  /** Sends an alert once more to all that it went to. */
  replay(id: string, nowMs: number): void {
    this.write({ at: nowMs, replay: id })
  }

  close(): void {
    closeSync(this.file)
  }

  private write(line: Line): void {
    this.read()
    if (this.offset === 0 && this.beganMs !== Number.POSITIVE_INFINITY) this.writeKnown()
    try {
      this.append([line])
    } finally {
      this.read()
    }
  }

  /** Writes all that is known to a file that was emptied, so that no alert is said once more after a new start. */
  private writeKnown(): void {
    try {
      this.append([{ at: this.beganMs, began: true }, ...this.known()])
    } catch (error) {
      // A part of it would be read as all.
      ftruncateSync(this.file)
      throw error
    }
    for (const { atMs, deliveries } of this.alerts.values())
      for (const webhook of deliveries.keys()) deliveries.set(webhook, fresh(atMs))
    this.read()
  }

  private append(lines: readonly Line[]): void {
    const text = lines.map((each) => `${JSON.stringify(each)}\n`).join('')
    const bytes = Buffer.from(this.isCut() ? `\n${text}` : text)
    // A disk that is nearly full takes a part.
    for (let done = 0; done < bytes.length; ) done += writeSync(this.file, bytes, done)
    fdatasyncSync(this.file)
  }

  /** Lines that give the same alerts and deliveries: each attempt ended like the last one, at the time that its next one is counted from. */
  private known(): readonly Line[] {
    return [...this.alerts.values()].flatMap(({ alert, atMs, deliveries }) => [
      { at: atMs, alert, to: [...deliveries.keys()] },
      ...[...deliveries].flatMap(([webhook, { attempts, status, dueMs }]): readonly Line[] =>
        status === null
          ? []
          : Array.from({ length: attempts }, () => ({
              ...{ at: dueMs - waitAfter(attempts, status, alert.id), webhook, status },
              attempted: alert.id,
            })),
      ),
    ])
  }

  /** Whether the file ends within a line. */
  private isCut(): boolean {
    const { size } = fstatSync(this.file)
    const last = Buffer.alloc(1)
    return size > 0 && readSync(this.file, last, 0, 1, size - 1) === 1 && last[0] !== 10
  }

  private take(line: Line): void {
    if ('began' in line) this.beganMs = Math.min(this.beganMs, line.at)
    else if ('alert' in line) {
      if (this.alerts.has(line.alert.id)) return
      const deliveries = new Map(line.to.map((webhook) => [webhook, fresh(line.at)]))
      this.alerts.set(line.alert.id, { alert: line.alert, atMs: line.at, deliveries })
    } else if ('replay' in line) {
      const deliveries = this.alerts.get(line.replay)?.deliveries
      for (const webhook of deliveries?.keys() ?? []) deliveries!.set(webhook, fresh(line.at))
    } else {
      const deliveries = this.alerts.get(line.attempted)?.deliveries
      const before = deliveries?.get(line.webhook)
      if (before !== undefined) {
        deliveries!.set(line.webhook, afterAttempt(before, line.attempted, line.status, line.at))
      }
    }
  }
}

function lineOf(text: string): Line | null {
  try {
    return lineShape.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}

function afterAttempt(
  before: Delivery,
  id: string,
  status: number | string,
  nowMs: number,
): Delivery {
  const attempts = before.attempts + 1
  const isDelivered = typeof status === 'number' && status >= 200 && status < 300
  const isLast = waitOf(attempts, status) === undefined
  const state = isDelivered ? 'delivered' : isLast ? 'failed' : 'pending'
  return { state, attempts, status, dueMs: nowMs + waitAfter(attempts, status, id) }
}

/** Milliseconds to the next attempt; undefined if this was the last. The standard has 410 say that the receiver wants no more. */
const waitOf = (attempts: number, status: number | string) =>
  status === 410 ? undefined : waitsMs[attempts - 1]

const waitAfter = (attempts: number, status: number | string, id: string) =>
  (waitOf(attempts, status) ?? 0) * jitterOf(id)
