import type { PriceTerms } from '../../contract/prices.ts'
import { lookup } from '../../user/lookup.ts'
import type { Call } from '../call.ts'
import type { Book } from './book.ts'
import type { Charge, LogRow } from './charge.ts'
import { generatedOf, type Metered, promptOf } from './metered.ts'
import { jsonAmount, withPlace } from './places.ts'
import { value as numberOf } from './sheet.ts'

interface Kept {
  readonly account: number
  readonly responseId: string
  readonly row: object
}

/** Above this number, the oldest are dropped. */
const mostRows = 100_000

/** The service's own log of charges, in the fields that the contract's evidence names. */
export class SpendLog {
  readonly #terms: PriceTerms
  readonly #book: Book
  readonly #writeRow: ((line: string) => void) | null
  #rows: Kept[] = []

  /** @param writeRow gets each row as a line of JSON; null keeps rows here only */
  constructor(terms: PriceTerms, book: Book, writeRow: ((line: string) => void) | null) {
    this.#terms = terms
    this.#book = book
    this.#writeRow = writeRow
  }

  write(
    call: Call,
    responseId: string,
    account: number,
    metered: Metered,
    rows: readonly LogRow[],
    nowUs: number,
  ): void {
    for (const { cost, counts, bill } of rows) {
      const { log } = this.#terms.evidence
      let row: object = {
        key: call.key!.id,
        endpoint: call.endpoint,
        stream: metered.stream,
        status: metered.outcome,
        service_tier: metered.serviceTier,
        ...metered.choices,
        ratio: numberOf(bill.times),
        parts: Object.fromEntries(bill.lines.map((line) => [line.part, this.#amount(line.cost)])),
      }
      const tokens: Readonly<Record<string, number>> = lookup({
        ...counts,
        prompt: promptOf(counts),
        completion: generatedOf(counts),
        total: promptOf(counts) + generatedOf(counts),
      })
      const places: readonly (readonly [string, unknown])[] = [
        [log?.id ?? 'request_id', responseId],
        [log?.cost ?? 'spend', this.#amount(cost)],
        [log?.model ?? 'model', metered.served],
        [log?.at ?? 'startTime', new Date(call.incoming.atUs / 1000).toISOString()],
        ['endTime', new Date(nowUs / 1000).toISOString()],
        ...Object.entries(
          log?.tokens ?? { prompt: 'prompt_tokens', completion: 'completion_tokens' },
        ).map(([name, place]) => [place, tokens[name] ?? 0] as const),
      ]
      for (const [place, value] of places) row = withPlace(row, place, value)
      this.#rows.push({ account, responseId, row })
      this.#writeRow?.(`${JSON.stringify(row)}\n`)
    }
    if (this.#rows.length > mostRows) this.#rows = this.#rows.slice(-mostRows / 2)
  }

  /** Puts the costs of a corrected charge into the rows of a request. */
  amend(account: number, responseId: string, { rows }: Charge): void {
    const place = this.#terms.evidence.log?.cost ?? 'spend'
    let nth = 0
    this.#rows = this.#rows.map((kept) => {
      const corrected =
        kept.account === account && kept.responseId === responseId ? rows[nth++] : undefined
      if (corrected === undefined) return kept
      return { ...kept, row: withPlace(kept.row, place, this.#amount(corrected.cost)) }
    })
  }

  #amount(cost: Charge['postings'][number]): number | string {
    return jsonAmount(this.#book.text(this.#book.unitsOf(cost)))
  }

  /** @param responseId of one request; null for all of the account */
  rowsOf(account: number, responseId: string | null): readonly object[] {
    return this.#rows
      .filter((kept) => kept.account === account)
      .filter((kept) => responseId === null || kept.responseId === responseId)
      .map(({ row }) => row)
  }
}
