import type { Fields } from '../formats/row.ts'
import type { Mapping } from '../mapping.ts'
import { columnText, holds, placeText } from './line-text.ts'

/** Values that a line states for the later lines of its session, such as the model. */
export class Carried {
  readonly #mapping: Mapping
  readonly #last = new Map<string, Map<string, string>>()
  #session = ''

  constructor(mapping: Mapping) {
    this.#mapping = mapping
  }

  /** Takes what a line states. @returns its session */
  see(document: Fields): string {
    const { fields } = this.#mapping
    const carry: Carries = this.#mapping.carry ?? {}
    const inField = fields.session === undefined ? null : placeText(document, fields.session)
    const named = this.#stated(document, carry.session) ?? inField
    if (named !== null) this.#session = named
    const session = this.#session
    for (const [field, from] of Object.entries(carry)) {
      if (field === 'session') continue
      const value = this.#stated(document, from)
      if (value === null) continue
      const values = this.#last.get(session) ?? new Map<string, string>()
      values.set(field, value)
      this.#last.set(session, values)
    }
    return session
  }

  values(session: string): Iterable<readonly [string, string]> {
    return this.#last.get(session) ?? []
  }

  #stated(document: Fields, from: CarriedFrom | undefined): string | null {
    if (from === undefined) return null
    if (typeof from === 'string') return columnText(document, from)
    return holds(document, from.where ?? []) ? columnText(document, from.column) : null
  }
}

type Carries = NonNullable<Mapping['carry']>
type CarriedFrom = NonNullable<Carries['model']>
