import { hostname } from 'node:os'
import { monotonicNs } from '../run/clock.ts'
import type { Progress } from '../run/count/progress.ts'
import type { TimesOfSteps } from '../run/count/times-by-step.ts'
import type { Shard } from '../run/crew/shard.ts'
import type { StopReason } from '../run/crew/stop-conditions.ts'
import type { AgreedStart, Said, Team } from '../run/crew/team.ts'
import { readyUs } from '../run/run.ts'
import { largest } from '../user/extremes.ts'
import { type UserError, userError } from '../user/user-error.ts'
import { SharedClock } from './clock.ts'
import { Kept } from './kept.ts'
import { type EndWord, type JoinWord, liveWord, parsed } from './messages.ts'
import { type Names, namesOf } from './names.ts'
import { reachServer, type Server } from './server.ts'

export interface FleetOptions {
  /** Address of a NATS server with JetStream. */
  readonly address: string
  readonly runId: string
  readonly shard: Shard
  /** Longest wait for the other shards and for the server, in milliseconds. */
  readonly waitMs: number
}

/** Pings before the start, and in each round after it. */
const [firstPings, laterPings] = [30, 3]
const answerMs = 1000
/** Shards that are asked for credits at once. */
const askedAtOnce = 16

/** Connects to the server of a fleet. @throws UserError if that fails */
export const joinFleet = (options: FleetOptions): Promise<Fleet> => Fleet.join(options)

/**
 * One shard of a run whose shards meet at a NATS server. They exchange that they have joined, the time,
 * their counts and their end. The server keeps joins, gatherings, stops and ends under names of the run,
 * so a late shard reads the earlier ones.
 */
export class Fleet implements Team {
  private readonly options: FleetOptions
  private readonly server: Server
  private readonly kept: Kept
  private readonly names: Names
  private readonly clock = new SharedClock()
  private readonly deadlineMs: number
  private pinging: NodeJS.Timeout | null = null
  private isStopped = false
  private isClosed = false

  static async join(options: FleetOptions): Promise<Fleet> {
    const server = await reachServer(options.address, performance.now() + options.waitMs)
    return new Fleet(options, server, await Kept.of(server, namesOf(options.runId).all))
  }

  private constructor(options: FleetOptions, server: Server, kept: Kept) {
    this.options = options
    this.server = server
    this.kept = kept
    this.names = namesOf(options.runId)
    this.deadlineMs = performance.now() + options.waitMs
  }

  async begin(planHash: string, signal: AbortSignal | undefined): Promise<AgreedStart | null> {
    const { shard, runId } = this.options
    const word: JoinWord = { planHash, host: hostname(), atMs: Date.now() }
    if (!(await this.kept.claim(this.names.shard(shard.index), word))) {
      const other = parsed.join(this.kept.get(this.names.shard(shard.index)))
      const where =
        other === null ? '' : ` from ${other.host} at ${new Date(other.atMs).toISOString()}`
      throw userError.fleet(
        `--join: shard ${shard.index} of ${runId} joined before${where}. Two would send the same load twice; choose another --run-id.`,
      )
    }
    if (shard.index === 0) this.tellTime()
    try {
      const leave = () => this.kept.check()
      signal?.addEventListener('abort', leave)
      const start = await this.meet(planHash, signal).finally(() =>
        signal?.removeEventListener('abort', leave),
      )
      if (start === null) await this.leave()
      return start
    } catch (error) {
      await this.leave()
      throw error
    }
  }

  async gather<Own extends Said>(name: string, own: Own): Promise<readonly Own[] | null> {
    const deadlineMs = performance.now() + this.options.waitMs
    const { index, of } = this.options.shard
    if (!(await this.kept.put(this.names.said(name, index), own, deadlineMs))) return null
    const all = () =>
      indexes(of).map((each) => parsed.said(this.kept.get(this.names.said(name, each)), own))
    await this.kept.until(() => all().every((said) => said !== null), deadlineMs)
    const said = all()
    return said.every((each) => each !== null) ? said : null
  }

  stop(reason: StopReason): void {
    if (this.isStopped) return
    this.isStopped = true
    void this.kept.claim(this.names.stop, { reason }).catch(() => {})
  }

  onStop(listener: (reason: StopReason) => void): void {
    const look = () => {
      const reason = parsed.stop(this.kept.get(this.names.stop))
      if (reason === null || this.isStopped) return
      this.isStopped = true
      listener(reason)
    }
    this.kept.onNews(look)
    look()
  }

  async askForCredits(most: number): Promise<number> {
    const { index, of } = this.options.shard
    const others = indexes(of - 1).map((at) => (index + 1 + at) % of)
    for (let at = 0; at < others.length; at += askedAtOnce) {
      const given = await Promise.all(
        others
          .slice(at, at + askedAtOnce)
          .map((other) => this.ask(this.names.credits(other), most)),
      )
      const sum = given.reduce((all: number, each) => all + (each ?? 0), 0)
      if (sum > 0) return sum
    }
    return 0
  }

  onAsked(giveUp: (most: number) => number): void {
    this.server.connection.subscribe(this.names.credits(this.options.shard.index), {
      callback: (error, message) => {
        const most = error === null ? wholeNumber(message.string()) : null
        if (most !== null) message.respond(String(giveUp(most)))
      },
    })
  }

  get clockErrorUs(): number {
    return this.options.shard.index === 0 ? 0 : this.clock.errorUs(ownUs())
  }

  /** Publishes the progress of this shard; dropped while the server is unreachable. */
  show(progress: Progress, counted: TimesOfSteps): void {
    const { connection } = this.server
    if (!this.kept.isConnected) return
    const word = liveWord(progress, counted)
    const most = connection.info?.max_payload ?? 0
    connection.publish(
      this.names.live(this.options.shard.index),
      word.length <= most ? word : liveWord(progress, null),
    )
  }

  /** Publishes how this shard ended, if the server is reachable, and disconnects. */
  async close(end: EndWord | null): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    if (this.pinging !== null) clearInterval(this.pinging)
    const { index } = this.options.shard
    if (end !== null) await this.kept.put(this.names.end(index), end, performance.now() + answerMs)
    await this.server.connection.close()
  }

  /** Waits for all shards and agrees on a start; null if it was aborted. */
  private async meet(planHash: string, signal?: AbortSignal): Promise<AgreedStart | null> {
    const { shard } = this.options
    const { deadlineMs } = this
    const isLeft = () => signal?.aborted === true
    const offsetUs = await this.agreeOnClock(isLeft)
    if (Number.isFinite(offsetUs)) {
      const word = { atUs: Math.round(ownUs() + offsetUs) }
      await this.kept.put(this.names.said('ready', shard.index), word, deadlineMs)
    }
    await this.kept.until(
      () => this.missing().length === 0 || this.stranger(planHash) !== undefined || isLeft(),
      deadlineMs,
    )
    if (isLeft()) return null
    const other = this.stranger(planHash)
    if (other !== undefined) throw this.otherPlan(other)
    const missing = this.missing()
    if (missing.length > 0) throw this.notJoined(missing)
    const startedAtUs = largest(indexes(shard.of).map((index) => this.ready(index)!.atUs)) + readyUs
    if (shard.index !== 0) this.keepPinging()
    return { startedAtUs, zeroNs: BigInt(Math.round((startedAtUs - offsetUs) * 1000)) }
  }

  /** From this machine's clock to that of shard 0, in microseconds; not finite if shard 0 did not answer in time. */
  private async agreeOnClock(isLeft: () => boolean): Promise<number> {
    if (this.options.shard.index === 0) return leaderUs() - ownUs()
    while (!isLeft() && performance.now() < this.deadlineMs) {
      const answered = await this.ping(firstPings)
      if (answered === firstPings) break
      await this.kept.until(isLeft, Math.min(this.deadlineMs, performance.now() + 200))
    }
    return this.clock.agree()
  }

  /** When a shard was ready; null if it is not. */
  private ready(index: number) {
    return parsed.said(this.kept.get(this.names.said('ready', index)), { atUs: 0 })
  }

  private missing(): readonly number[] {
    return indexes(this.options.shard.of).filter((index) => this.ready(index) === null)
  }

  /** A shard with another plan. It leaves at once, so its last word is read. */
  private stranger(planHash: string): number | undefined {
    return indexes(this.options.shard.of).find((index) => {
      const other = parsed.join(this.kept.last(this.names.shard(index)))
      return other !== null && other.planHash !== planHash
    })
  }

  private otherPlan(other: number): UserError {
    const { shard, runId } = this.options
    return userError.fleet(
      `--join: shards ${shard.index} and ${other} of ${runId} have different plans: scenario, prompts, seed, contract, version and number of shards must be the same. Nothing was sent.`,
    )
  }

  /** Shards that joined and left after the same wait are not the cause; it names those that never joined. */
  private notJoined(missing: readonly number[]): UserError {
    const { shard, runId, waitMs } = this.options
    const never = missing.filter((index) => this.kept.last(this.names.shard(index)) === undefined)
    const named = never.length > 0 ? never : missing
    return userError.unreachable(
      `--join: of ${shard.of} shards of ${runId}, these did not join within ${waitMs / 1000} s: ${named.slice(0, 20).join(', ')}. Nothing was sent.`,
    )
  }

  private tellTime(): void {
    this.server.connection.subscribe(this.names.clock, {
      callback: (error, message) => {
        if (error === null) message.respond(String(leaderUs()))
      },
    })
  }

  private keepPinging(): void {
    let isOut = false
    this.pinging = setInterval(
      () => {
        if (isOut || !this.kept.isConnected) return
        isOut = true
        void this.ping(laterPings).finally(() => {
          isOut = false
        })
      },
      // Shard 0 answers all of them.
      Math.max(1000, this.options.shard.of * 5),
    )
    this.pinging.unref()
  }

  /** Stops at the first ping without an answer. @returns the number of answered pings */
  private async ping(count: number): Promise<number> {
    for (let done = 0; done < count; done++) {
      const sentUs = ownUs()
      const theirUs = await this.ask(this.names.clock, 0)
      if (theirUs === null) return done
      this.clock.see({ sentUs, theirUs, gotUs: ownUs() })
    }
    return count
  }

  /** @returns the number that another shard answered; null without an answer */
  private async ask(name: string, number: number): Promise<number | null> {
    try {
      const { connection } = this.server
      const answer = await connection.request(name, String(number), { timeout: answerMs })
      return wholeNumber(answer.string())
    } catch {
      return null
    }
  }

  /** Withdraws this shard, so that another attempt may take its place. */
  private async leave(): Promise<void> {
    const { index } = this.options.shard
    await this.kept.remove(this.names.said('ready', index))
    await this.kept.remove(this.names.shard(index))
  }
}

const indexes = (of: number) => Array.from({ length: of }, (_, index) => index)

/** Microseconds on this machine's monotonic clock. */
const ownUs = () => Number(monotonicNs()) / 1000

const anchor = { unixUs: Date.now() * 1000, ownUs: ownUs() }
/** Unix microseconds of shard 0: its system clock at the start plus monotonic time since. */
const leaderUs = () => Math.round(anchor.unixUs + ownUs() - anchor.ownUs)

const wholeNumber = (text: string): number | null => (/^\d{1,16}$/.test(text) ? Number(text) : null)
