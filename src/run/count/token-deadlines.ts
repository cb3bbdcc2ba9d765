import type { TokenDeadlines } from '../../scenario/scenario.ts'

/**
 * The deadlines of the tokens of a stream, which a reader at a steady pace has (fluidity: Agrawal et al.,
 * arXiv 2507.09019, and the function `get_request_level_deadline_miss_rate` of Etalon). A token that is early leaves slack to
 * the next ones. A token that is late misses one deadline, and one more for each further wait of a whole `next`; the deadlines of
 * the next tokens begin again with it. Each event counts as one token.
 */
export class DeadlineCounter {
  /** Deadlines that were kept or missed. */
  all = 0
  missed = 0
  private slackUs = 0
  private readonly limits: TokenDeadlines

  constructor(limits: TokenDeadlines) {
    this.limits = limits
  }

  /** @param waitUs from the send to the first event with text */
  first(waitUs: number): void {
    this.all = 0
    this.missed = 0
    this.slackUs = 0
    this.see(waitUs, this.limits.firstUs)
  }

  /** @param waitUs since the event before */
  next(waitUs: number): void {
    this.see(waitUs, this.limits.nextUs)
  }

  private see(waitUs: number, limitUs: number): void {
    const lateUs = waitUs - limitUs - this.slackUs
    if (lateUs <= 0) {
      this.slackUs = -lateUs
      this.all++
      return
    }
    const missed = 1 + Math.floor(lateUs / this.limits.nextUs)
    this.missed += missed
    this.all += missed
    this.slackUs = 0
  }
}
