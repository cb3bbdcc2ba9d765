import type { Flight } from './flight.ts'

export class InFlight {
  private readonly flights: Flight[] = []

  get size(): number {
    return this.flights.length
  }

  /** Those of a phase. */
  of(phase: Flight['phase']): readonly Flight[] {
    return this.flights.filter((flight) => flight.phase === phase)
  }

  add(flight: Flight): void {
    flight.place = this.flights.length
    this.flights.push(flight)
  }

  remove(flight: Flight): void {
    const last = this.flights.pop()!
    if (last !== flight) {
      this.flights[flight.place] = last
      last.place = flight.place
    }
    flight.running = null
  }

  /** Aborts all flights; each still ends with its own attempt. */
  abort(reason: string): void {
    for (const flight of [...this.flights]) flight.running?.abort(reason)
  }
}
