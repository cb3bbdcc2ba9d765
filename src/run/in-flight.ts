import type { Flight } from './flight.ts'

/** The flights that are under way, and the integral of their number over time. */
export class InFlight {
  private readonly flights: Flight[] = []
  private areaUs = 0
  private sinceUs = 0

  get size(): number {
    return this.flights.length
  }

  add(flight: Flight, nowUs: number): void {
    this.addTime(nowUs)
    flight.place = this.flights.length
    this.flights.push(flight)
  }

  remove(flight: Flight, nowUs: number): void {
    this.addTime(nowUs)
    const last = this.flights.pop()!
    if (last !== flight) {
      this.flights[flight.place] = last
      last.place = flight.place
    }
    flight.running = null
  }

  /** Leaves them all; each still ends as an attempt of its own. */
  abort(reason: string): void {
    for (const flight of [...this.flights]) flight.running?.abort(reason)
  }

  /** Request-seconds in flight since the run began. */
  secondsAt(nowUs: number): number {
    this.addTime(nowUs)
    return this.areaUs / 1e6
  }

  private addTime(nowUs: number): void {
    this.areaUs += this.flights.length * (nowUs - this.sinceUs)
    this.sinceUs = nowUs
  }
}
