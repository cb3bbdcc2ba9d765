import { thinkUs } from '../../schedule/draw.ts'
import { joinsUs, leavesUs, type UserRamp } from '../../schedule/users.ts'
import type { MachineShare } from '../crew/machine-share.ts'
import type { ActivePhase } from './active-phase.ts'
import type { DueQueue } from './due.ts'
import type { Flight, User } from './flight.ts'

/** What users need of their thread. */
interface UsersParts {
  readonly due: DueQueue<Flight | User>
  readonly share: MachineShare
  readonly isStopping: () => boolean
  /** Sends a request, or starts a task. */
  readonly begin: (phase: ActivePhase, index: number, atUs: number, user: User) => void
  /** A phase has no more requests. */
  readonly issued: (phase: ActivePhase) => void
}

/** The users of closed loads on one thread: each sends, waits for the answer, thinks, and sends again. */
export class Users {
  private readonly parts: UsersParts

  constructor(parts: UsersParts) {
    this.parts = parts
  }

  /** Has every so-manieth user of a phase join when it is due. A phase without a user of this thread is over. */
  join(phase: ActivePhase, shard: number, shards: number): void {
    const { crowd, run } = phase
    if (crowd === null) return
    for (let number = shard; number < usersOf(crowd); number += shards) {
      this.parts.due.add(run.startUs + joinsUs(crowd, number), { phase, number, thoughts: 0 })
    }
    if (shard >= usersOf(crowd)) this.parts.issued(phase)
  }

  /** Sends the next request of a user, unless it or its phase is over. */
  act(user: User, atUs: number): void {
    const { phase } = user
    const { crowd, run } = phase
    if (crowd === null || phase.issued) return
    if (atUs >= phase.endUs || atUs - run.startUs >= leavesUs(crowd, user.number)) return
    const index = this.parts.share.takeNext(phase)
    if (index === null) this.parts.issued(phase)
    else this.parts.begin(phase, index, atUs, user)
  }

  /** The next request of a user comes after its think time. */
  think(user: User, nowUs: number): void {
    const { phase } = user
    const { crowd } = phase
    if (crowd === null || phase.issued || this.parts.isStopping()) return
    const draw = user.number + user.thoughts * usersOf(crowd)
    user.thoughts++
    const atUs = nowUs + thinkUs(crowd.think, phase.thinkDraws, draw)
    // Without think time, the next request is sent at the end of the last.
    if (atUs > nowUs) this.parts.due.add(atUs, user)
    else this.act(user, atUs)
  }
}

const usersOf = ({ fromUsers, toUsers }: UserRamp) => Math.max(fromUsers, toUsers)
