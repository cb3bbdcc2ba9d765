import type { SharedNumbers } from '../crew/shared.ts'
import type { Team } from '../crew/team.ts'

/** Seconds of spending that a machine keeps for itself, and that it requests from others. */
const [keptS, askedS] = [2, 10]

/**
 * The credits of one machine, its share of the run's bound. In a team, a machine that runs short asks the
 * others. A giver lowers its own bound first, so the sum of all bounds never exceeds that of the run,
 * whatever messages are lost.
 */
export class Budget {
  private readonly shared: SharedNumbers
  private readonly team: Team | null
  private readonly cheapest: number
  private before = { atUs: 0, credits: 0 }
  private perS = 0
  private isAsking = false
  /** Whether no other machine had credits to spare. */
  private isDry: boolean

  /** @param cheapest credits of the cheapest request that is not free */
  constructor(shared: SharedNumbers, team: Team | null, cheapest: number) {
    this.shared = shared
    this.team = team
    this.cheapest = cheapest
    this.isDry = team === null
    team?.onAsked((most) => this.giveUp(most))
  }

  /** Call it about once a second. */
  look(nowUs: number): void {
    const seconds = (nowUs - this.before.atUs) / 1e6
    if (this.team === null || this.isAsking || seconds < 0.5) return
    const { credits } = this.shared
    this.perS = Math.max(0, credits - this.before.credits) / seconds
    this.before = { atUs: nowUs, credits }
    if (this.left >= this.kept) {
      this.isDry = false
      return
    }
    this.isAsking = true
    const most = Math.ceil(this.perS * askedS) + this.cheapest
    void this.team.askForCredits(most).then((given) => {
      this.shared.bound += given
      this.isDry = given === 0
      this.isAsking = false
    })
  }

  /** Whether this machine can pay no more requests, and no other has credits to spare. */
  get isSpent(): boolean {
    return this.isDry && !this.isAsking && this.left < this.cheapest
  }

  private get left(): number {
    return this.shared.bound - this.shared.credits
  }

  private get kept(): number {
    return Math.ceil(this.perS * keptS) + this.cheapest
  }

  private giveUp(most: number): number {
    const spare = Math.floor((this.left - this.kept) / 2)
    return spare > 0 ? this.shared.giveUp(Math.min(most, spare)) : 0
  }
}
