import type { PriceTerms } from '../../contract/prices.ts'
import { type Rational, rational } from '../../money/rational.ts'
import type { StreamEvent } from '../behaviour.ts'
import type { Book } from './book.ts'
import type { Charge } from './charge.ts'
import type { Conduct } from './conducts.ts'
import type { Incoming } from './metering.ts'
import { jsonAmount, withPlace } from './places.ts'
import { nothing, value } from './sheet.ts'
import { usageReport } from './usage-dialects.ts'

/** A priced request, and its charge once it is made. */
export interface Answered {
  readonly incoming: Incoming
  readonly charge: Charge | null
}

/** Tokens that the first event of a messages stream reports. */
export const atStart = 1

/** Writes usage and cost into answers, where the contract's evidence says. */
export class Showing {
  readonly #terms: PriceTerms
  readonly #book: Book
  readonly #conducts: ReadonlySet<Conduct>

  constructor(terms: PriceTerms, book: Book, conducts: ReadonlySet<Conduct>) {
    this.#terms = terms
    this.#book = book
    this.#conducts = conducts
  }

  /** The body with its usage in the dialect of the price, its cost, and the model that served. */
  body(held: Answered, body: object): object {
    if (held.charge === null) return body
    return this.#named(held, this.#withUsage(held, held.charge, body))
  }

  #named({ incoming: { served, model, steering } }: Answered, body: object): object {
    const named =
      served.id === model.id || !('model' in body) ? body : { ...body, model: served.id }
    return steering.isFiltered ? filtered(named) : named
  }

  #withUsage({ incoming }: Answered, charge: Charge, body: object): object {
    const report = usageReport(incoming.dialect, charge.shown, incoming.calls)
    const { member } = report
    const value = this.#conducts.has('null-details') ? withoutDetails(report.value) : report.value
    const { usage: _, ...rest } = body as Readonly<Record<string, unknown>>
    let made: object = { ...rest, [member]: value }
    if (incoming.serviceTier !== null) made = { ...made, service_tier: incoming.serviceTier }
    for (const place of this.#terms.evidence.cost) {
      if ('body' in place && charge.stated !== null) {
        const amount = this.amount(charge, place.times)
        const isText = this.#conducts.has('exponent-cost')
        made = withPlace(made, place.body, isText ? amount : jsonAmount(amount))
      }
    }
    return made
  }

  /** A cost in the unit of a place. */
  amount(charge: Charge, times: Rational): string {
    const { numerator, denominator } = charge.stated ?? nothing
    if (this.#conducts.has('float-cost')) return String(asFloat(charge, times))
    if (this.#conducts.has('exponent-cost')) return asFloat(charge, times).toExponential()
    if (this.#conducts.has('short-cost')) return asFloat(charge, times).toFixed(6)
    const inPlace = rational(numerator * times.denominator, denominator * times.numerator)
    const isOwnUnit = times.numerator === times.denominator
    return isOwnUnit ? this.#book.text(this.#book.unitsOf(inPlace)) : String(value(inPlace))
  }

  events(
    held: Answered,
    events: readonly StreamEvent[],
    at: 'start' | 'pieces' | 'end' | 'failure',
  ): readonly StreamEvent[] {
    return events.map(({ name, data }) => {
      const named = this.#named(held, data)
      if (at === 'start' && 'message' in named) {
        const input = { ...held.incoming.input, output_visible: atStart }
        const { value } = usageReport(held.incoming.dialect, input, {})
        return {
          name,
          data: {
            ...named,
            message: this.#named(held, { ...(named.message as object), usage: value }),
          },
        }
      }
      if (at === 'pieces' && 'choices' in named && this.#conducts.has('early-usage')) {
        const { incoming } = held
        const soFar = { ...incoming.input, output_visible: atStart }
        const { member, value } = usageReport(incoming.dialect, soFar, {})
        return { name, data: { ...named, [member]: value } }
      }
      if (at !== 'end' || held.charge === null || !('usage' in named)) return { name, data: named }
      const shown = this.#withUsage(held, held.charge, named)
      return { name, data: this.#conducts.has('usage-twice') ? twice(shown) : shown }
    })
  }
}

/** An answer, or its last event, that ends because a filter stopped it, in either format. */
function filtered(body: object): object {
  if ('choices' in body) {
    const choices = (body.choices as readonly { readonly finish_reason: unknown }[]).map(
      (choice) =>
        choice.finish_reason === null ? choice : { ...choice, finish_reason: 'content_filter' },
    )
    return { ...body, choices }
  }
  if ('stop_reason' in body && body.stop_reason !== null) return { ...body, stop_reason: 'refusal' }
  return 'delta' in body ? { ...body, delta: filtered(body.delta as object) } : body
}

/** The sum of the parts as programs with doubles compute it, each factor by itself. */
function asFloat({ rows, stated }: Charge, times: Rational): number {
  const row = rows[0]
  if (row === undefined || row.cost !== stated) return value(stated ?? nothing) / value(times)
  return (
    (row.bill.lines.reduce((sum, line) => sum + value(line.cost) / 1e6, 0) * 1e6) / value(times)
  )
}

/** Usage with null in place of details that have no tokens. */
function withoutDetails(usage: object): object {
  const isEmpty = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((each) => each === 0 || each === null)
  return Object.fromEntries(
    Object.entries(usage).map(([name, value]) => [name, isEmpty(value) ? null : value]),
  )
}

/** As Moonshot's last chunk. */
function twice(chunk: object): object {
  const { usage } = chunk as { readonly usage?: object }
  const choice = { index: 0, delta: {}, finish_reason: 'stop', usage }
  return { ...chunk, choices: [choice] }
}
